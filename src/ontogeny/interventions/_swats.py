"""The learning rate at which SGD takes the steps that Adam takes (SWATS, Keskar & Socher 1712.07628)."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from ontogeny.interventions._groups import WHOLE


class SwatsEstimate:
    """Λ for each group: λ / (1 − β₂^t), λ the EMA with β₂ of γ_t = pᵀp / (−pᵀg).

    p is Adam's step without decay, g the gradient; both are read off what the optimizer does.
    `before` and `after` stand around one optimizer step.
    """

    def __init__(self) -> None:
        self.averages: list[float] = []
        self.latest: list[float] = []
        self.count = 0
        self.decay = 0.0
        self._before: list[list[tuple[Tensor, Tensor, float]]] = []

    def before(self, optimizer: torch.optim.Optimizer) -> None:
        """Keep each weight, and what decay alone will take from it."""
        wholes: dict[int, list[tuple[Tensor, Tensor, float]]] = {}
        for group in optimizer.param_groups:
            self.decay = float(group["betas"][1])
            rate = float(group["lr"]) * float(group["weight_decay"])
            decay = rate if group.get("decoupled_weight_decay") else 0.0
            entries = wholes.setdefault(id(group.get(WHOLE, group)), [])
            entries += [(p, p.detach().clone(), decay) for p in group["params"] if p.grad is not None]
        self._before = list(wholes.values())

    @torch.no_grad()
    def after(self) -> None:
        """Take the step that was made into the estimate; a group without a usable step keeps its average."""
        self.averages = self.averages or [0.0] * len(self._before)
        self.latest = self.latest or [0.0] * len(self._before)
        self.count += 1
        for number, entries in enumerate(self._before):
            square = product = 0.0
            for parameter, former, decay in entries:
                assert parameter.grad is not None
                taken = (parameter - former + decay * former).double()
                square += float(taken.square().sum())
                product += float((taken * parameter.grad).sum())
            if product:
                self.latest[number] = square / -product
            self.averages[number] *= self.decay
            self.averages[number] += (1 - self.decay) * self.latest[number]
        self._before = []

    def rates(self) -> list[float]:
        """Λ of each group, bias-corrected."""
        return [average / (1 - self.decay**self.count) for average in self.averages]

    def settled(self, tolerance: float, relative: bool) -> bool:
        """Whether Λ and γ agree in every group; never at the first step, where they are equal."""
        pairs = list(zip(self.rates(), self.latest, strict=True))
        return self.count > 1 and all(
            abs(rate - latest) < tolerance * (abs(rate) if relative else 1) for rate, latest in pairs
        )

    def usable(self) -> bool:
        """Whether every group has a rate that goes downhill."""
        return self.count > 0 and all(rate > 0 for rate in self.rates())

    def state_dict(self) -> dict[str, Any]:
        return {
            "averages": self.averages,
            "latest": self.latest,
            "count": self.count,
            "decay": self.decay,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.averages, self.latest = list(state["averages"]), list(state["latest"])
        self.count, self.decay = int(state["count"]), float(state["decay"])
