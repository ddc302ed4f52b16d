"""Dropout for a while."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Literal

from ontogeny.catalogue import Batch, intervention
from ontogeny.errors import BadContract
from ontogeny.interventions._acting import Acting, check
from ontogeny.interventions._direction import direction_error, summed_gradient
from ontogeny.models import Decoder
from ontogeny.vocabulary import Draw, TrainingState


@intervention(source="Liu et al. 2303.01500, recalled")
class dropout(Acting):
    """Dropout at `rate` inside the window, in place of the recipe's; a Decoder only.

    shape "constant" holds the rate; "linear" lets it fall from `rate` to 0 at the window's end (open: the
    recipe's). Early dropout has the window's end at 1/6 of training, late dropout its start there, over a
    recipe without dropout. Masks are drawn from the stream `dropout` of each step, which is untouched by what
    happens outside. Optimizer state: untouched.

    Telemetry, at the window's first step and every `measure` steps of it (0: never): 1 − cos(g, g_full), with
    g the step's gradient as `gradient_direction_error`, and that of the same rows without dropout as
    `gradient_direction_error_without`. g_full is the gradient without dropout over `reference` further draws
    of the recipe's data, from the stream `intervention` (the sample in place of all data is ours). Both are
    over the parameters that have a gradient, and absent where one of the gradients is 0.
    Known: outside the window every bit is that of a run without it, from equal weights; at rate 0 both
    errors are equal, and 0 where g_full is of the same rows.
    Misleads: the recorded loss inside the window is that of the thinned model, so it is higher by itself; an
    error against a sample holds the sample's own noise, so compare the two, or runs of one `reference`.
    """

    extent = frozenset({"forward"})

    def __init__(
        self,
        *,
        rate: float = 0.1,
        shape: Literal["constant", "linear"] = "constant",
        measure: int = 100,
        reference: int = 16,
    ) -> None:
        super().__init__()
        fine = 0 <= rate < 1 and shape in ("constant", "linear") and measure >= 0 and reference >= 1
        allowed = 'rate from 0, below 1; shape "constant" or "linear"; measure from 0; reference from 1'
        received = {"rate": rate, "shape": shape, "measure": measure, "reference": reference}
        check("dropout", fine, allowed, **received)
        self.rate, self.shape, self.measure, self.reference = rate, shape, measure, reference
        #: What the step's micro-batches learn from, by place.
        self.draws: dict[str, Draw] = {}
        self.errors: dict[str, float] = {}

    def on_draw(self, draw: Draw, step: int) -> Draw:
        self.draws[self.drawing.place] = draw
        return draw

    @contextmanager
    def on_forward(self, state: TrainingState, step: int) -> Iterator[None]:
        model = state["model"]
        if not isinstance(model, Decoder):
            raise BadContract("dropout can be changed in a Decoder only", received=type(model).__name__)
        blocks: list[Any] = list(model.blocks)
        config, rates = model.config, [block.rate for block in blocks]
        rate = self._at(state, step)
        model.config = replace(config, dropout=config.dropout if self.inert else rate)
        for block, before in zip(blocks, rates, strict=True):
            block.rate = before if self.inert else rate
        try:
            yield
        finally:
            model.config = config
            for block, before in zip(blocks, rates, strict=True):
                block.rate = before

    def _at(self, state: TrainingState, step: int) -> float:
        if self.shape == "constant":
            return self.rate
        end = self.end(state)
        return self.rate * max(0, end - step) / max(1, end - self.window.start)

    def on_gradients(self, state: TrainingState, step: int) -> None:
        self.errors = {}
        if not self.measure or (step - self.window.start) % self.measure:
            return
        objective, model = self.drawing.objective, state["model"]
        if not objective.state_free:
            raise BadContract(
                "dropout cannot repeat the rows of an objective that samples them from the state",
                received=type(objective).__name__,
                remedy="give dropout measure=0",
            )
        parameters = [parameter for parameter in model.parameters() if parameter.grad is not None]
        seen = [parameter.grad for parameter in parameters]
        same = summed_gradient(model, parameters, objective, self._batches(state, step, "", self.draws))
        further = {str(number): self._further(step, number) for number in range(self.reference)}
        full = summed_gradient(model, parameters, objective, self._batches(state, step, "/more", further))
        found = {
            "gradient_direction_error": direction_error(seen, full),
            "gradient_direction_error_without": direction_error(same, full),
        }
        self.errors = {name: error for name, error in found.items() if not math.isnan(error)}

    def _further(self, step: int, number: int) -> Draw:
        rng = self.drawing.streams.generator("intervention", step, f"dropout/draw{number}")
        return self.drawing.objective.draw(step, rng)

    def _batches(self, state: TrainingState, step: int, more: str, draws: dict[str, Draw]) -> Iterator[Batch]:
        for place, draw in draws.items():
            rng = self.drawing.streams.generator("intervention", step, f"dropout/batch{more}{place}")
            yield self.drawing.objective.batch(draw, state, rng)

    def telemetry(self) -> dict[str, float]:
        return self.errors
