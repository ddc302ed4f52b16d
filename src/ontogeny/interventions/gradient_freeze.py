"""Matrices frozen one by one when they have come to rest."""

from collections.abc import Mapping
from typing import Any, Literal, get_args

from torch import Tensor, nn

from ontogeny.catalogue import intervention
from ontogeny.interventions._acting import Patterns, Policy, check, chosen, planned_steps
from ontogeny.vocabulary import TrainingState

Statistic = Literal["gradient", "gradient_change", "weight_change"]


@intervention(source="Wen et al. 2509.01842, code and abstracts")
class gradient_freeze(Policy):
    """GradES: a matrix is frozen from the first step >= `alpha`·total on whose statistic is below `tau`.

    statistic, a mean over entries: "gradient" |g_t| (the paper's first version), "gradient_change"
    |g_t − g_{t−1}| (its third), "weight_change" |W_t − W_{t−1}| (the released package, which sums; known
    after the update, it freezes from the next step). total is the recipe's number of steps. It watches what
    fits `patterns`; without patterns, the matrices of attention and MLP. Frozen: the gradient is taken away,
    so no update, no decay, no momentum, up to the window's end. Optimizer state: as it was when frozen.
    Known: tau 0 never freezes; tau inf freezes all at alpha·total; frozen matrices are bitwise constant.
    Misleads: below tau may mean a falling learning rate or a rare gradient, not that learning has ended.
    """

    extent = frozenset({"gradients"})

    def __init__(
        self,
        *,
        statistic: Statistic = "gradient",
        tau: float = 1e-4,
        alpha: float = 0.3,
        patterns: Patterns = (),
    ) -> None:
        super().__init__()
        fine = statistic in get_args(Statistic) and tau >= 0 and 0 <= alpha <= 1
        allowed = f"statistic one of {', '.join(get_args(Statistic))}; tau from 0; alpha from 0 to 1"
        check("gradient_freeze", fine, allowed, statistic=statistic, tau=tau, alpha=alpha)
        self.statistic, self.tau, self.alpha, self.patterns = statistic, tau, alpha, patterns
        self.frozen: list[str] = []
        #: What a change is measured from: gradients of the last step, or weights before this one.
        self.previous: dict[str, Tensor] = {}

    def on_gradients(self, state: TrainingState, step: int) -> None:
        for name, parameter in self._watched(state["model"]).items():
            if parameter.grad is not None and name not in self.frozen:
                self._look(name, parameter, step >= self.alpha * planned_steps(state))
            if name in self.frozen:
                parameter.grad = parameter.grad if self.inert else None

    def _look(self, name: str, parameter: nn.Parameter, due: bool) -> None:
        gradient = parameter.grad
        assert gradient is not None
        if self.statistic == "weight_change":
            self.previous[name] = parameter.detach().clone()
        elif self.statistic == "gradient":
            self._judge(name, gradient, due)
        else:
            before = self.previous.pop(name, None)
            if before is not None:
                self._judge(name, gradient - before, due)
            if name not in self.frozen:
                self.previous[name] = gradient.detach().clone()

    def on_update(self, state: TrainingState, step: int) -> None:
        if self.statistic != "weight_change":
            return
        for name, before in self.previous.items():
            parameter = state["model"].get_parameter(name)
            self._judge(name, parameter.detach() - before, step >= self.alpha * planned_steps(state))
        self.previous = {}

    def _judge(self, name: str, change: Tensor, due: bool) -> None:
        if float(change.abs().mean()) < self.tau and due:
            self.frozen.append(name)

    def _watched(self, model: nn.Module) -> dict[str, nn.Parameter]:
        found = chosen(model, self.patterns)
        if self.patterns:
            return found
        inner = (".attention.", ".mlp.")
        matrices = {n: p for n, p in found.items() if p.ndim == 2 and any(part in n for part in inner)}
        allowed = "patterns, or a model with matrices of names like *.attention.* or *.mlp.*"
        check("gradient_freeze", bool(matrices), allowed, patterns=self.patterns)
        return matrices

    def state_dict(self) -> dict[str, Any]:
        return {"frozen": self.frozen, "previous": self.previous}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.frozen, self.previous = list(state["frozen"]), dict(state["previous"])
