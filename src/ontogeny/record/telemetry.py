"""What is recorded of every optimizer step (TEL-01, TEL-02), gathered through the optimizer's own hooks."""

import math
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from ontogeny.numerics.norms import decay_norm, ratio, squares
from ontogeny.record.norms import Grouped, UpdateNorms, grouped, named_trainable, norm_groups


class StepTelemetry:
    """Watches one optimizer: gradient norms before its step, update norms after it. It changes nothing.

    `applied` is false when the optimizer was not called since the last record (a skipped, overflown step).
    What the optimizer sees is the gradient after clipping; the loop may name the norm before it, and then
    the clip coefficient and the unclipped norms follow exactly.
    """

    def __init__(self, model: nn.Module, optimizer: torch.optim.Optimizer, by_module: bool = True) -> None:
        self.model, self.optimizer, self.by_module = model, optimizer, by_module
        #: What changed in what is watched, as (kind, data), until somebody takes it.
        self.events: list[tuple[str, dict[str, Any]]] = []
        self._gradients: list[float] | None = None
        self._changes: tuple[list[float], list[float]] | None = None
        self._rates: list[float] = []
        self._decays: list[tuple[float, list[int]]] = []
        self._watch()
        self._handles = [
            optimizer.register_step_pre_hook(self._before),
            optimizer.register_step_post_hook(self._after),
        ]

    def _watch(self) -> None:
        """Look up what there is to watch; lazy parameters wait until they have values."""
        named = named_trainable(self.model)
        self._lazy = {name: parameter for name, parameter in named.items() if is_lazy(parameter)}
        self.parameters = {name: p for name, p in named.items() if name not in self._lazy}
        self._places = {id(parameter): index for index, parameter in enumerate(self.parameters.values())}
        self._sizes = [len(group["params"]) for group in self.optimizer.param_groups]
        self.groups = norm_groups(self.parameters) if self.by_module else {}
        # Made once: looking up a name that is the same object every step costs next to nothing.
        self._gradient_names = {name: f"gradient_norm/{name}" for name in self.groups}
        self._ratio_names = {name: f"update_ratio/{name}" for name in self.groups}
        #: Metrics kept in four bytes: the many per-module ones.
        self.narrow = (*self._gradient_names.values(), *self._ratio_names.values())
        self.updates = UpdateNorms(self.parameters)

    def _look_again(self) -> None:
        """Note lazy parameters that have come to be, and groups that were added or have grown."""
        sizes = [len(group["params"]) for group in self.optimizer.param_groups]
        born = [name for name, parameter in self._lazy.items() if not is_lazy(parameter)]
        if not born and sizes == self._sizes:
            return
        if born:
            self.events.append(("materialised", {"parameters": born}))
        if sizes != self._sizes:
            self.events.append(("groups", {"before": self._sizes, "parameters": self._grouped_names()}))
        self._watch()

    def _grouped_names(self) -> list[list[str]]:
        names = {id(parameter): name for name, parameter in named_trainable(self.model).items()}
        groups = self.optimizer.param_groups
        return [[names.get(id(p), "not of the model") for p in group["params"]] for group in groups]

    def detach(self) -> None:
        """Take the hooks off again."""
        for handle in self._handles:
            handle.remove()

    def _before(self, *_: Any) -> None:
        self._look_again()
        gradients = [parameter.grad for parameter in self.parameters.values()]
        found = iter(squares([gradient for gradient in gradients if gradient is not None]))
        self._gradients = [-1.0 if gradient is None else next(found) for gradient in gradients]
        self._rates = [float(group["lr"]) for group in self.optimizer.param_groups]
        self._decays = self._decoupled_decays() if isinstance(self.optimizer, torch.optim.AdamW) else []
        self.updates.prepare()

    def _decoupled_decays(self) -> list[tuple[float, list[int]]]:
        """By what share of themselves which parameters are about to shrink, whatever their gradients say."""
        decaying = [group for group in self.optimizer.param_groups if group["weight_decay"]]
        return [
            (
                float(group["lr"]) * float(group["weight_decay"]),
                [self._places.get(id(p), -1) for p in group["params"]],
            )
            for group in decaying
        ]

    def _after(self, *_: Any) -> None:
        self._changes = self.updates.measure()

    def take(self, norm_before_clipping: float | None) -> dict[str, float | bool | int]:
        """The record of the step that just ended; what was not observed is absent, not 0."""
        applied = self._changes is not None
        record: dict[str, float | bool | int] = {"applied": applied}
        if self._rates:
            record["learning_rate"] = self._rates[0]
            record |= {f"learning_rate/group{i}": rate for i, rate in enumerate(self._rates[1:], start=1)}
        if self._gradients is not None:
            record |= self._gradient_record(grouped(self._gradients, self.groups), norm_before_clipping)
            record["parameters_without_gradient"] = sum(value < 0 for value in self._gradients)
        if self._changes is not None:
            record |= self._update_record(*self._changes)
        self._gradients = self._changes = None
        return record

    def _gradient_record(self, seen: Grouped, before: float | None) -> dict[str, float]:
        factor = 1.0
        record = {}
        if before is not None:
            clipped = seen.total < before * (1 - 1e-6)
            factor = before / seen.total if clipped and seen.total > 0 else 1.0
            record["clip_coefficient"] = 1 / factor
        record["gradient_norm"] = before if before is not None else seen.total
        if self.by_module:
            names = self._gradient_names
            record |= {names[group]: value * factor for group, value in seen.by_group.items()}
        return record

    def _update_record(self, changes: list[float], weights: list[float]) -> dict[str, float]:
        update, weight = grouped(changes, self.groups), grouped(weights, self.groups)
        record = {"update_norm": update.total, "weight_norm": weight.total}
        record["update_ratio"] = ratio(update.total, weight.total)
        if self._decays:
            record["decay_norm"] = self._decay_norm(weights)
        if self.by_module:
            for name, value in update.by_group.items():
                found = ratio(value, weight.by_group[name])
                if not math.isnan(found) or math.isnan(value):
                    record[self._ratio_names[name]] = found
        return record

    def _decay_norm(self, weights: list[float]) -> float:
        """The part of the update that decoupled decay made; without a gradient there is none."""
        gradients = self._gradients or [-1.0] * len(weights)
        shares = [0.0] * len(weights)
        for share, places in self._decays:
            for place in places:
                if place >= 0 and not gradients[place] < 0:
                    shares[place] = share
        return decay_norm(shares, weights)
