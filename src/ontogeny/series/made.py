"""Checkpoints that a function makes: whatever the user can load, a series can hold."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from operator import index
from typing import Any, SupportsIndex

import xxhash
from torch import nn

from ontogeny.errors import ForeignCheckpoint, NotARun
from ontogeny.formats import Weights
from ontogeny.formats.canonical import canonical_state
from ontogeny.series.checkpoint import SeriesCheckpoint

Load = Callable[[int], Any]


@dataclass(frozen=True)
class MadeCheckpoint(SeriesCheckpoint):
    """What `load(step)` gives: a module, a Subject, or a state dict of `model`."""

    load: Load = field(kw_only=True)
    model: nn.Module | None = field(default=None, kw_only=True, compare=False)
    _hash: str = field(default="", init=False, compare=False, repr=False)

    @property
    def hash(self) -> str:
        """xxh3-64 over `Weights.hash`, class and configuration of what is made; it is made for it once."""
        if not self._hash:
            self.made()
        return self._hash

    @property
    def hashed(self) -> bool:
        """Whether the hash is known without making anything."""
        return bool(self._hash)

    def made(self) -> Any:
        """Make it. ForeignCheckpoint for what is neither module, Subject nor state dict of `model`."""
        found = self.load(self.step)
        weights = self._weights_of(found)
        said = json.dumps(dict(weights.config), sort_keys=True, default=str)
        object.__setattr__(self, "_hash", xxhash.xxh3_64_hexdigest(f"{weights.hash} {said}".encode()))
        return found

    def weights(self) -> Weights:
        """Copies of its tensors: the function may give one module again and again."""
        found = self._weights_of(self.made())
        return replace(found, tensors={name: tensor.clone() for name, tensor in found.tensors.items()})

    def _weights_of(self, found: Any) -> Weights:
        module = self.model if isinstance(found, Mapping) else module_of(found)
        if module is None:
            raise ForeignCheckpoint(
                f"what the function gave for step {self.step} is no model",
                received=type(found).__name__,
                allowed="a torch module, a Subject, or a state dict beside Series.of(..., model=MODULE)",
            )
        state = canonical_state(found if isinstance(found, Mapping) else module.state_dict())
        return Weights(state.tensors, _described(module), state.aliases, notes=state.notes)


def module_of(found: Any) -> nn.Module | None:
    """The module that a function gave, bare or as the `model` of a Subject."""
    held = found if isinstance(found, nn.Module) else getattr(found, "model", None)
    return held if isinstance(held, nn.Module) else None


def _described(module: nn.Module) -> dict[str, Any]:
    config: Any = getattr(module, "config", None)
    known = config.to_dict() if hasattr(config, "to_dict") else {"config": repr(config)} if config else {}
    return {"class": type(module).__qualname__, **known}


def resolved(load: Load | str) -> Load:
    """A function, or the one that `module:function` names; NotARun if there is no such function."""
    if callable(load):
        return load
    module, _, name = load.partition(":")
    try:
        found = getattr(import_module(module), name)
        if not callable(found):
            raise ValueError(f"it is a {type(found).__name__}")
    except (ImportError, AttributeError, ValueError) as error:
        raise NotARun(
            f"{load!r} names no function",
            received=str(error),
            allowed="MODULE:FUNCTION, importable from here",
        ) from error
    return found


def whole_step(step: SupportsIndex) -> int:
    """A step as a plain int; NotARun for anything else than a whole number from 0."""
    try:
        found = index(step)
    except TypeError:
        found = -1
    if found < 0:
        raise NotARun("a step is no whole number", received=repr(step), allowed="0, 1, 2 …")
    return found


def importable(load: Load) -> bool:
    """Whether another process finds the same function by its name."""
    module, name = getattr(load, "__module__", None), getattr(load, "__qualname__", "")
    if not module or module == "__main__":
        return False
    try:
        return getattr(import_module(module), name, None) is load
    except ImportError:
        return False
