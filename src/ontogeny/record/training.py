"""One optimizer step of a recipe, with the places where interventions enter."""

import math
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from ontogeny.catalogue import Intervention, Objective
from ontogeny.models import Decoder
from ontogeny.record.mixture_counters import MixtureCounters
from ontogeny.record.recipe import Recipe
from ontogeny.sources import Mixture
from ontogeny.vocabulary import Counters, Draw, Streams, TrainingState

#: Token streams of the runs of one folder, by hash.
TOKENS = "tokens"


def objective_of(recipe: Recipe, run: Path) -> Objective:
    """A recipe's objective; its token streams are kept once beside the run, for all runs of the folder."""
    return recipe.task(run.absolute().parent / TOKENS)


class Schedule:
    """The learning rate's course as a saveable part: every group's base rate times the recipe's factor."""

    def __init__(self, optimizer: torch.optim.Optimizer, recipe: Recipe) -> None:
        self.optimizer, self.recipe = optimizer, recipe
        self.base = [float(group["lr"]) for group in optimizer.param_groups]

    def apply(self, step: int) -> None:
        """Set the rate of the update that ends step + 1."""
        factor = self.recipe.schedule.factor(step, self.recipe.training.steps)
        for group, base in zip(self.optimizer.param_groups, self.base, strict=True):
            group["lr"] = base * factor

    def state_dict(self) -> dict[str, Any]:
        return {"base": self.base}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.base = [float(rate) for rate in state["base"]]


class Step(NamedTuple):
    """What one step was: mean loss and its weight, the gradient's norm before clipping, what was drawn.

    `more` is what else is recorded of it: counts by source, numbers of interventions.
    """

    loss: float
    weight: float
    gradient_norm: float
    applied: bool
    draw: int
    tokens: int
    samples: int
    more: Mapping[str, float] = {}


class Drawing(NamedTuple):
    """How a micro-batch was drawn, for interventions that draw anew; `steps` is how many the recipe has."""

    objective: Objective
    streams: Streams
    place: str
    steps: int

    def again(self, step: int, more: str = "") -> Draw:
        """The draw that this micro-batch has at a step; `more` names a further one of that step."""
        return self.objective.draw(step, self.streams.generator("data", step, self.place + more))


class Training:
    """A recipe brought to life: objective, training state and random streams, at some step.

    Interventions act in the listed order, each in its window.
    """

    def __init__(
        self,
        recipe: Recipe,
        objective: Objective,
        interventions: Sequence[Intervention] = (),
    ) -> None:
        self.recipe, self.objective = recipe, objective
        self.streams = Streams(recipe.training.seed)
        self.model = Decoder(
            recipe.decoder(objective.vocabulary, objective.context), self.streams.generator("init")
        )
        optimizer = recipe.optimizer.over(self.model)
        self.schedule = Schedule(optimizer, recipe)
        self.interventions = list(interventions)
        self.state = TrainingState(
            model=self.model, optimizer=optimizer, schedule=self.schedule, counters=Counters()
        )
        corpus = getattr(objective, "corpus", None)
        #: A run of one corpus has nothing to count by source.
        self.by_source = MixtureCounters(corpus) if isinstance(corpus, Mixture) else None
        if self.by_source is not None:
            self.state["by_source"] = self.by_source
        for number, made in enumerate(self.interventions):
            self.state[f"intervention{number}"] = made

    @property
    def optimizer(self) -> torch.optim.Optimizer:
        return self.state["optimizer"]

    def step(self) -> Step:
        """Draw, batch, loss, gradients, clip, update; the counters are the recorder's to move, but for those
        by source."""
        step = self.state["counters"].step
        active = [made for made in self.interventions if step in made.window]
        for made in active:
            if step == made.window.start:
                made.edit_state(self.state, step)
        self.model.train()
        self.schedule.apply(step)
        self.optimizer.zero_grad(set_to_none=True)
        loss, weight, draw, tokens, samples = self._gradients(step, active)
        norm = self._clip()
        for made in active:
            made.on_loss(loss, step)
        stopping = self.recipe.training.on_nonfinite == "stop" and not math.isfinite(loss)
        applied = weight > 0 and not stopping
        if applied:  # what is laid out before the optimizer's step is always cleared away after it
            for made in active:
                made.on_gradients(self.state, step)
            self.optimizer.step()
            for made in active:
                made.on_update(self.state, step)
        return Step(loss, weight, norm, applied, draw, tokens, samples, self._more(active if applied else []))

    def _more(self, active: list[Intervention]) -> dict[str, float]:
        """What is recorded of a step beside the usual."""
        found: dict[str, float] = {} if self.by_source is None else dict(self.by_source.record())
        for number, made in enumerate(self.interventions):
            if made in active:
                found |= {f"intervention{number}/{name}": value for name, value in made.telemetry().items()}
        return found

    def asked_to_stop(self) -> str:
        """Why a policy wants the run to end here, or nothing."""
        return next((made.stop for made in self.interventions if made.stop), "")

    def _gradients(self, step: int, active: list[Intervention]) -> tuple[float, float, int, int, int]:
        """Accumulate the gradient of the weighted mean loss over the step's micro-batches."""
        count = self.recipe.training.accumulation
        total, weight, draws, tokens, samples = 0.0, 0.0, 0, 0, 0
        for micro in range(count):
            place = str(micro) if count > 1 else ""
            draw = self._draw(step, place, active)
            draws ^= draw.identity
            sampling = self.streams.generator("sampling", step, place)
            batch = self.objective.batch(draw, self.state, sampling)
            with ExitStack() as stack:
                for made in active:
                    stack.enter_context(made.on_forward(self.state, step))
                stack.enter_context(self._precision())
                losses = self.objective.loss(self._forward(step, place), batch)
            if self.by_source is not None:
                self.by_source.count(draw, losses)
            micro_weight = float(losses.total_weight)
            if micro_weight > 0:
                summed = (losses.values * losses.weights).sum()
                (summed / micro_weight if count == 1 else summed).backward()
                total += float(summed.detach())
            weight += micro_weight
            tokens += losses.values.numel()
            samples += len(losses.values)
        if count > 1 and weight > 0:
            for parameter in self.model.parameters():
                if parameter.grad is not None:
                    parameter.grad.div_(weight)
        return (total / weight if weight else math.nan), weight, draws, tokens, samples

    def _draw(self, step: int, place: str, active: list[Intervention]) -> Draw:
        drawing = Drawing(self.objective, self.streams, place, self.recipe.training.steps)
        draw = drawing.again(step)
        for made in active:
            made.drawing = drawing
            draw = made.on_draw(draw, step)
        return draw

    def _forward(self, step: int, place: str) -> Any:
        """The model, with dropout masks of this step's own generator."""
        if not self.model.config.dropout:
            return self.model
        return partial(self.model, dropout_rng=self.streams.generator("dropout", step, place))

    def _precision(self) -> Any:
        if self.recipe.training.autocast:
            return torch.autocast("cpu", dtype=torch.bfloat16)
        return nullcontext()

    def _clip(self) -> float:
        """The gradient's norm; the gradient is scaled down where the recipe clips and the norm is larger."""
        parameters = [p for p in self.model.parameters() if p.grad is not None]
        limit = self.recipe.training.clip
        if not limit:
            return float(nn.utils.get_total_norm([p.grad for p in parameters if p.grad is not None]))
        return float(nn.utils.clip_grad_norm_(parameters, limit))

    @torch.no_grad()
    def evaluate(self, rows: int) -> dict[str, float]:
        """Mean loss on held-out rows, in eval mode, as `heldout_loss`; NaN where the objective has none.

        Of several sources also `heldout_loss/NAME`, over each one's own rows among them.
        """
        found = self.objective.facts().heldout(rows, self.objective.context)
        if found is None:
            return {"heldout_loss": math.nan}
        corpus = None if self.by_source is None else self.by_source.corpus
        shares = [len(found[0])] if corpus is None else corpus.heldout_rows(len(found[0]))
        parts = zip(*(part.split(shares) for part in found), strict=True)
        sums = [self._summed_loss(tokens, weights) for tokens, weights in parts]
        whole = {"heldout_loss": sum(loss for loss, _ in sums) / sum(weight for _, weight in sums)}
        named = zip(() if corpus is None else corpus.names, sums, strict=corpus is not None)
        return whole | {f"heldout_loss/{name}": loss / weight for name, (loss, weight) in named if weight}

    def _summed_loss(self, tokens: Tensor, weights: Tensor) -> tuple[float, float]:
        """Weighted sum of the losses of rows, and the sum of the weights."""
        self.model.eval()
        total = 0.0
        for start in range(0, len(tokens), 32):
            logits = self.model(tokens[start : start + 32, :-1])
            loss = nn.functional.cross_entropy(
                logits.flatten(0, 1).float(), tokens[start : start + 32, 1:].flatten(), reduction="none"
            )
            total += float(loss.double() @ weights[start : start + 32, :-1].flatten().double())
        return total, float(weights[:, :-1].sum())

    @torch.no_grad()
    def samples(self, number: int, length: int) -> list[str]:
        """What the model writes: prompts from held-out rows, then tokens drawn at temperature 1.

        Empty where there are no held-out rows, or where the model's output is not finite.
        """
        facts = self.objective.facts()
        found = facts.heldout(number, self.objective.context)
        if found is None:
            return []
        self.model.eval()
        prompt = min(8, self.objective.context // 2)
        tokens = found[0][:, :prompt]
        rng = self.streams.generator("sampling", self.state["counters"].step, "samples")
        for _ in range(length):
            logits = self.model(tokens[:, -self.objective.context :])[:, -1]
            if not bool(torch.isfinite(logits).all()):
                return []
            drawn = torch.multinomial(logits.float().softmax(-1), 1, generator=rng)
            tokens = torch.cat([tokens, drawn], 1)
        return [facts.text(row) for row in tokens]
