"""Canonical names: what a parameter is called in the model itself, whatever was wrapped around it.

Data parallelism, `torch.compile`, FSDP and activation checkpointing each put the model into a module of
their own, and its name into every parameter's.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor
from torch.nn.parameter import is_lazy

from ontogeny.errors import ForeignCheckpoint

#: One component of a dotted name each.
WRAPPERS = (
    "module",
    "_orig_mod",
    "_fsdp_wrapped_module",
    "_fpw_module",
    "_checkpoint_wrapped_module",
    "_forward_module",
)
_FLAT = re.compile(r"_?flat_param(_\d+)?")
EXAMPLES = 5


def canonical_name(name: str) -> str:
    """A parameter's name without the components that wrappers add, in any order, depth and number."""
    return ".".join(part for part in name.split(".") if part not in WRAPPERS)


def canonical_names(names: Iterable[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Each given name with its canonical one, and a note on what was stripped, if anything was.

    ForeignCheckpoint if two names become one: then a component is a module of the model, not a wrapper.
    """
    found: dict[str, str] = {}
    taken: dict[str, str] = {}
    stripped: dict[str, int] = {}
    for name in names:
        bare = canonical_name(name)
        if bare in taken:
            raise ForeignCheckpoint(
                "two tensors have one name once the names of wrappers are taken away",
                received=f"{taken[bare]}, {name}",
                allowed=f"names that differ in more than {', '.join(WRAPPERS)}",
                remedy="save the bare model's state_dict, or rename the tensors",
            )
        taken[bare], found[name] = name, bare
        for part in {part for part in name.split(".") if part in WRAPPERS}:
            stripped[part] = stripped.get(part, 0) + 1
    notes = tuple(f"stripped {part}. from {count} names" for part, count in sorted(stripped.items()))
    return found, notes


@dataclass(frozen=True)
class Canonical:
    """A state dict under canonical names, tied tensors once, with their other names and notes."""

    tensors: Mapping[str, Tensor]
    aliases: Mapping[str, str]
    notes: tuple[str, ...]


def canonical_state(state: Mapping[str, Any]) -> Canonical:
    """A state dict that lies in memory, under canonical names; what is no tensor is left out.

    Tensors that are the same view of the same memory are one tensor with aliases. ForeignCheckpoint, with
    the cause and the names, for a state dict whose values are elsewhere (see `require_values`).
    """
    state = {name: tensor for name, tensor in state.items() if isinstance(tensor, Tensor)}
    require_values(state)
    names, notes = canonical_names(state)
    seen: dict[tuple[object, ...], str] = {}
    tensors: dict[str, Tensor] = {}
    aliases: dict[str, str] = {}
    for name, tensor in state.items():
        view = (tensor.data_ptr(), tuple(tensor.shape), tensor.stride(), tensor.dtype)
        first = seen.setdefault(view, names[name]) if tensor.numel() else names[name]
        if first == names[name]:
            tensors[first] = tensor.detach()
        else:
            aliases[names[name]] = first
    return Canonical(tensors, aliases, notes)


def require_values(state: Mapping[str, Any]) -> None:
    """ForeignCheckpoint unless every tensor holds its own values; the message names the cause and tensors.

    Causes: lazy (no shape yet), meta (a shape and no memory), sharded (this process holds a part), flat (one
    unshaped buffer of FSDP in place of many parameters), partitioned (DeepSpeed ZeRO-3 leaves empty tensors).
    """
    state = {name: tensor for name, tensor in state.items() if isinstance(tensor, Tensor)}
    causes = {
        "lazy: not initialised yet": [name for name, t in state.items() if is_lazy(t)],
        "on the meta device: shapes without values": [
            name for name, t in state.items() if not is_lazy(t) and t.is_meta
        ],
        "sharded over processes": [name for name, t in state.items() if type(t).__name__ in _SHARDED],
    }
    require_whole_names(state)
    empty = [name for name, t in state.items() if not is_lazy(t) and tuple(t.shape) == (0,)]
    if 2 * len(empty) > len(state):
        causes["partitioned: each process holds its part and leaves these empty"] = empty
    for cause, names in causes.items():
        if names:
            raise _without_values(cause, names)


_SHARDED = ("DTensor", "ShardedTensor", "FlatParameter")


def require_whole_names(names: Iterable[str]) -> None:
    """ForeignCheckpoint if names say that parameters lie in FSDP's flat buffers."""
    flat = [name for name in names if _FLAT.fullmatch(name.rpartition(".")[2])]
    if flat:
        raise _without_values("flat buffers of FSDP: parameters without shapes of their own", flat)


def _without_values(cause: str, names: list[str]) -> ForeignCheckpoint:
    return ForeignCheckpoint(
        "these tensors do not hold the model's values",
        received=f"{cause}: {examples(names)}",
        allowed="dense tensors, each with its own values",
        remedy="gather the full state dict before saving, or load the model fully before measuring it",
    )


def examples(names: Iterable[str]) -> str:
    """A few names of many, and how many there are."""
    names = sorted(names)
    shown = ", ".join(names[:EXAMPLES])
    return f"{shown} … ({len(names)} in all)" if len(names) > EXAMPLES else shown
