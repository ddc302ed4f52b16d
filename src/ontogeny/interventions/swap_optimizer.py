"""Another optimizer from some step on."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

from ontogeny.catalogue import intervention
from ontogeny.errors import BadContract
from ontogeny.interventions._acting import Acting, check
from ontogeny.interventions._groups import mend_groups
from ontogeny.interventions._optimizers import KINDS, become, carried, emptied, is_adam, made_over
from ontogeny.interventions._swats import SwatsEstimate
from ontogeny.vocabulary import TrainingState

MODES = ("transfer", "reset", "reset_warmup")


@intervention(source="Keskar & Socher 1712.07628 (formula); transfer table ours")
class swap_optimizer(Acting):
    """The optimizer becomes one of kind `to` (adam, adamw, radam, sgd) and stays it.

    When: at the window's first step; with `after`, once so many steps of it are done. To SGD without `rate`,
    its rate is estimated meanwhile (SWATS), and the swap comes when |Λ − γ_t| < `tolerance` (times Λ if
    `relative`) in every group, or at `after` or the first step from there on with all Λ > 0: γ_t =
    pᵀp / (−pᵀg) of Adam's step p without decay and gradient g, Λ its bias-corrected EMA with β₂. Λ is the
    rate at the swap and follows the schedule's course from there; `rate` replaces the recipe's base rate;
    without either the rate stays.
    Optimizer state: "transfer" carries both averages and the count among adam, adamw, radam; to SGD the first
    average as momentum, with momentum and dampening β₁; from SGD nothing. "reset" begins anew; "reset_warmup"
    too, with a rate that rises linearly over `warmup` steps. Settings both kinds know (β, ε, decay) are kept;
    a decay that AdamW decouples is in the gradient afterwards.
    BadContract for a window with an end: a swap lasts. List it last, so that it sees whole groups.
    Known: adam to adam with "transfer" changes no bit; a constant gradient of ±1 gives Λ = Adam's rate.
    Misleads: at the paper's tolerance of 1e-9 small runs never swap, and Λ holds for the steps it is made of.
    """

    extent = frozenset({"optimizer", "schedule"})

    def __init__(
        self,
        *,
        to: Literal["adam", "adamw", "radam", "sgd"] = "sgd",
        mode: Literal["transfer", "reset", "reset_warmup"] = "transfer",
        rate: float | None = None,
        after: int | None = None,
        tolerance: float = 1e-9,
        relative: bool = False,
        warmup: int = 100,
    ) -> None:
        super().__init__()
        fine = to in KINDS and mode in MODES and (rate is None or rate >= 0) and warmup >= 1
        allowed = f"to one of {', '.join(KINDS)}; mode one of {', '.join(MODES)}; rate from 0; warmup from 1"
        check("swap_optimizer", fine, allowed, to=to, mode=mode, rate=rate, warmup=warmup)
        self.to, self.mode, self.rate, self.after = to, mode, rate, after
        self.tolerance, self.relative, self.warmup = tolerance, relative, warmup
        self.estimate = SwatsEstimate()
        #: The first step that the new optimizer takes.
        self.swapped_at: int | None = None

    @property
    def _estimated(self) -> bool:
        return self.to == "sgd" and self.rate is None

    def edit_state(self, state: TrainingState, step: int) -> None:
        if self.window.end is not None:
            raise BadContract("a swap lasts", received=self.window, remedy="give its window no end")
        if self._estimated and not is_adam(type(state["optimizer"])):
            raise BadContract(
                "SGD's rate can be estimated from Adam's steps only",
                received=type(state["optimizer"]).__name__,
                remedy="give swap_optimizer a rate",
            )
        if not self._estimated and not self.after:
            self._swap(state, step)

    @contextmanager
    def on_forward(self, state: TrainingState, step: int) -> Iterator[None]:
        """After a checkpoint was read into the recipe's own optimizer, that becomes the other again."""
        optimizer, kind = state["optimizer"], KINDS[self.to]
        if self.swapped_at is not None and type(optimizer) is not kind and not self.inert:
            other = made_over(kind, optimizer)
            other.state.update(optimizer.state)
            become(optimizer, other)
        yield

    def on_gradients(self, state: TrainingState, step: int) -> None:
        if self.swapped_at is None:
            if self._estimated:
                self.estimate.before(state["optimizer"])
        elif self.mode == "reset_warmup":
            share = min(1.0, (step + 1 - self.swapped_at) / self.warmup)
            for group in state["optimizer"].param_groups:
                group["lr"] *= 1.0 if self.inert else share

    def on_update(self, state: TrainingState, step: int) -> None:
        if self.swapped_at is not None:
            return
        due = self.after is not None and step + 1 - self.window.start >= self.after
        if self._estimated:
            self.estimate.after()
            due = due or self.estimate.settled(self.tolerance, self.relative)
            due = due and self.estimate.usable()
        if due:
            self._swap(state, step + 1)

    def _swap(self, state: TrainingState, step: int) -> None:
        optimizer = state["optimizer"]
        mend_groups(optimizer)
        before, kind = type(optimizer), KINDS[self.to]
        other = made_over(before if self.inert else kind, optimizer)
        for parameter, entry in optimizer.state.items():
            transfer = self.mode == "transfer"
            kept = carried(entry, before, kind) if transfer else emptied(parameter, kind)
            other.state[parameter] = dict(entry) if self.inert else kept
        if not is_adam(type(other)):
            for group, old in zip(other.param_groups, optimizer.param_groups, strict=True):
                if "betas" in old:
                    group["momentum"] = group["dampening"] = old["betas"][0]
        become(optimizer, other)
        self._set_rates(state, step)
        self.swapped_at = step

    def _set_rates(self, state: TrainingState, step: int) -> None:
        """The schedule's base rates, so that its course begins at the wanted rate."""
        schedule = state["schedule"]
        base = list(schedule.base)
        if self._estimated:
            factor = schedule.recipe.schedule.factor(step, schedule.recipe.training.steps)
            base = [rate / (factor or 1.0) for rate in self.estimate.rates()]
        elif self.rate is not None:
            base = [self.rate] * len(base)
        schedule.base = schedule.base if self.inert else base

    def state_dict(self) -> dict[str, Any]:
        return {"swapped_at": self.swapped_at, "estimate": self.estimate.state_dict()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.swapped_at = state["swapped_at"]
        self.estimate.load_state_dict(state["estimate"])
