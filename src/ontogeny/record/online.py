"""Instruments that read a training step while it happens: gradients, updates and parameters.

A part declared `online=True` names among its needs

    gradient, previous_gradient   of this step and of the one before, before clipping
    update                        the parameter after the step less the parameter before it
    parameter                     before the step
    decay                         ηλ of decoupled weight decay, a number a parameter; 0 where there is none,
                                  and for a parameter without gradient

and gets each as a mapping from a parameter's name to its tensor. It is called for the whole model, and for
every group of a partition of the parameters (each matrix on its own, `norms`, `biases`), so one function
gives the global number and those of the modules. What it returns are numbers without axes.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from ontogeny.catalogue import Part, measuring_part
from ontogeny.catalogue.calls import read_call
from ontogeny.errors import BadContract
from ontogeny.evidence import evidence_of
from ontogeny.record.norms import named_trainable, norm_groups
from ontogeny.vocabulary import Place, Reading, Status, named_readings, undefined

#: What is noted of a number that does not exist: where, and why.
Gap = tuple[str, str, str]


class OnlinePart:
    """A part with its parameters, and every how many steps it is wanted."""

    def __init__(self, text: str, every: int) -> None:
        name, values = read_call(text)
        self.made: Part = measuring_part(name)
        self.parameters = self.made.bind(**values)
        self.name, self.every = text, every
        if not self.made.online:
            raise BadContract(
                f"{name!r} cannot be read from a training step",
                received=f"{self.made.kind} {name!r}",
                allowed="parts that are declared online=True (`ontogeny parts` shows them)",
                remedy="measure it on checkpoints: `ontogeny measure`",
            )
        if every < 1:
            raise BadContract(f"{name!r} is wanted every {every} steps", allowed="1, 2, 3 …")

    def due(self, step: int) -> bool:
        return step % self.every == 0

    @property
    def looks_back(self) -> bool:
        return "previous_gradient" in self.made.needs

    @property
    def reads_weights(self) -> bool:
        return not {"parameter", "update"}.isdisjoint(self.made.needs)

    def readings(self, held: dict[str, Any]) -> dict[str, Reading]:
        """What it says of one place; what it raises is a status."""
        values = [evidence_of(need, "parameter", held) for need in self.made.needs]
        gap = next((value for value in values if isinstance(value, Reading)), None)
        if gap is not None:
            return {"": gap}
        try:
            return named_readings(self.made.make(*values, **self.parameters))
        except Exception as error:  # whatever a part does, training goes on
            return {"": undefined(Status.FAILED, f"{type(error).__name__}: {error}")}


class Said(NamedTuple):
    """One number that a part gave of a step, and where it belongs."""

    part: OnlinePart
    place: Place
    component: str
    reading: Reading

    @property
    def metric(self) -> str:
        """What telemetry calls it: `part.component/group`, without what does not apply."""
        name = ".".join(filter(None, (self.part.name, self.component)))
        return f"{name}/{self.place['matrix']}" if self.place else name

    @property
    def number(self) -> float:
        """The value; NaN if it is undefined. BadContract if it is not one number."""
        value = self.reading.value
        if isinstance(value, Tensor) and value.numel() != 1:
            raise BadContract(
                f"online instrument {self.part.name!r} returned something that telemetry cannot hold",
                received=f"a value of shape {tuple(value.shape)}",
                allowed="one number, or several by name",
            )
        return float(value)


class OnlineParts:
    """Watches one optimizer for online parts, each in its own rhythm; step t is due for every=k if k | t.

    Only at due steps (and, for parts that look back, at the one before) are tensors copied.
    """

    def __init__(self, every: Mapping[str, int]) -> None:
        self.parts = [OnlinePart(name, count) for name, count in every.items()]
        self._watched: dict[str, Tensor] = {}
        self._held: dict[str, dict[str, Any]] | None = None
        self._previous: dict[str, Tensor] | None = None
        self._gaps: set[Gap] = set()
        self._names = {part.name for part in self.parts}

    def joined(
        self, step: int, seen: dict[str, Any], note: Callable[..., None]
    ) -> dict[str, float | bool | int]:
        """A step's record with what is due of it in place of what was `seen` under the same names.

        `note` hears of every number that does not exist, once for each reason.
        """
        if not self.parts:
            return seen
        found, gaps = self.take(step, float(seen.get("clip_coefficient", 1.0)))
        for metric, place, reason in gaps:
            note("undefined", metric=metric, place=place, reason=reason)
        return {name: seen[name] for name in self.others(tuple(seen))} | found

    def others(self, metrics: tuple[str, ...]) -> tuple[str, ...]:
        """Those of the recorder's own metrics that none of these parts gives under the same name."""
        if not self.parts:
            return metrics
        return tuple(name for name in metrics if name.partition("/")[0] not in self._names)

    @property
    def looks_back(self) -> bool:
        """Whether any of them needs the step before."""
        return any(part.looks_back for part in self.parts)

    @contextmanager
    def watching(
        self, model: nn.Module, optimizer: torch.optim.Optimizer, counted: Callable[[], int]
    ) -> Iterator[None]:
        """Watch every step of an optimizer within the block; `counted()` is how many were taken before."""
        if not self.parts:
            yield
            return
        handles = [
            optimizer.register_step_pre_hook(lambda *_: self._look(model, optimizer, counted() + 1)),
            optimizer.register_step_post_hook(lambda *_: self._look_again(model)),
        ]
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    def _look(self, model: nn.Module, optimizer: torch.optim.Optimizer, step: int) -> None:
        due = any(part.due(step) for part in self.parts)
        soon = any(part.looks_back and part.due(step + 1) for part in self.parts)
        self._held, self._watched = None, {}
        if not due and not soon:
            return
        named = _present(model)
        gradients = {n: p.grad.detach().clone() for n, p in named.items() if p.grad is not None}
        self._held = {"gradient": gradients}
        if due:
            self._watched = named
            self._held["decay"] = _decays(named, optimizer)
            if any(part.reads_weights and part.due(step) for part in self.parts):
                self._held["parameter"] = {name: p.detach().clone() for name, p in named.items()}

    def _look_again(self, model: nn.Module) -> None:
        if self._held is not None and "parameter" in self._held:
            before, after = self._held["parameter"], _present(model)
            self._held["update"] = {name: after[name].detach() - p for name, p in before.items()}

    def take(self, step: int, clip_coefficient: float = 1.0) -> tuple[dict[str, float], list[Gap]]:
        """The numbers that are due of the step that just ended, and what does not exist for the first time.

        NaN is an undefined number. Nothing is said of a step that the optimizer did not take.
        """
        record: dict[str, float] = {}
        gaps: list[Gap] = []
        for said in self.readings(step, clip_coefficient):
            record[said.metric] = said.number
            name, reading = said.metric.partition("/")[0], said.reading
            gap = (name, str(said.place), f"{reading.status}: {reading.reason}")
            if math.isnan(said.number) and reading.reason and gap not in self._gaps:
                self._gaps.add(gap)
                gaps.append(gap)
        return record, gaps

    def readings(self, step: int, clip_coefficient: float = 1.0) -> Iterator[Said]:
        """What is due of the step that just ended, for the whole model and for every group.

        `clip_coefficient` is by what its gradient was multiplied when it was clipped.
        """
        held, self._held = self._held, None
        previous, self._previous = self._previous, None
        if held is None:
            return
        if clip_coefficient != 1:
            for gradient in held["gradient"].values():
                gradient.div_(clip_coefficient)
        self._previous = held["gradient"] if self.looks_back else None
        if not self._watched:
            return
        if previous is not None:
            held["previous_gradient"] = previous
        for place, names in self._places():
            here: dict[str, Any] = {
                need: {name: values[name] for name in names if name in values}
                for need, values in held.items()
            }
            if previous is None:
                here["previous_gradient"] = undefined(Status.NO_TARGET, "the step before was not seen")
            for part in self.parts:
                for component, reading in part.readings(here).items() if part.due(step) else ():
                    yield Said(part, place, component, reading)

    def _places(self) -> list[tuple[Place, list[str]]]:
        names = list(self._watched)
        groups = norm_groups(self._watched)
        by_group = [(Place(matrix=g), [names[i] for i in indices]) for g, indices in groups.items()]
        return [(Place(), names), *by_group]


def _present(model: nn.Module) -> dict[str, Tensor]:
    """Parameters that have values, by canonical name, tied ones once."""
    return {name: p for name, p in named_trainable(model).items() if not is_lazy(p)}


def _decays(named: Mapping[str, Tensor], optimizer: torch.optim.Optimizer) -> dict[str, float]:
    """ηλ of each parameter, as it stands before the step."""
    found = dict.fromkeys(named, 0.0)
    if isinstance(optimizer, torch.optim.AdamW):
        names = {id(p): name for name, p in named.items()}
        for group in optimizer.param_groups:
            share = float(group["lr"]) * float(group["weight_decay"])
            decaying = [p for p in group["params"] if id(p) in names and p.grad is not None]
            found |= {names[id(p)]: share for p in decaying}
    return found
