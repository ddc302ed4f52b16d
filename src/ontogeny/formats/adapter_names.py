"""What the names of a model with adapters mean: of which tensor of the base, which part, of which adapter.

Names are read by structure: a path of the base's modules, then a kind, then perhaps the adapter's own name,
then "weight" or "bias". A kind is looked for in that spot only, so an adapter may be called "lora", or like
a module, and may have been attached with PEFT's wrapper around the model or without it.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from torch import Tensor

from ontogeny.formats.canonical import canonical_name

#: PEFT's wrappers around a model, outermost first; an adapter attached without them lacks them.
WRAPPERS = ("base_model", "model")
KINDS = ("lora_A", "lora_B", "lora_embedding_A", "lora_embedding_B")
#: Where the base's own tensors go when a module is wrapped, and where a copy that is trained whole goes.
BASE, TRAINED = ("base_layer", "original_module"), "modules_to_save"
#: A tensor that replaces the base's, or is the base's.
PLAIN = "plain"
_LEAVES = ("weight", "bias")


@dataclass(frozen=True)
class Target:
    """A part of one tensor of the base; `bias` marks a low-rank map's bias, which has no place there."""

    base: str
    kind: str
    adapter: str = ""
    bias: bool = False


def target_of(name: str, base: Collection[str]) -> Target | None:
    """What `name` means over a base with tensors of these names, or None if it fits none of them."""
    parts = canonical_name(name).split(".")
    for depth in range(len(WRAPPERS) + 1):
        if parts[:depth] == list(WRAPPERS[:depth]) and (found := _placed(parts[depth:], base)):
            return found
    return None


def _placed(parts: list[str], base: Collection[str]) -> Target | None:
    if ".".join(parts) in base:
        return Target(".".join(parts), PLAIN)
    leaf = parts[-1] if parts[-1] in _LEAVES else ""
    path = parts[:-1] if leaf else parts  # embeddings' matrices are parameters, without a leaf
    for size in (1, 2):  # the kind alone, or the kind and the adapter's name
        if len(path) <= size:
            continue
        kind, adapter = path[-size], path[-1] if size == 2 else ""
        module = path[:-size]
        own = ".".join([*module, leaf or "weight"])
        weight = ".".join([*module, "weight"])
        if kind in KINDS and weight in base:
            return Target(weight, kind, adapter, bias=leaf == "bias")
        if (kind == TRAINED or (kind in BASE and size == 1)) and own in base:
            return Target(own, PLAIN, adapter)
    return None


def base_names(names: Iterable[str]) -> dict[str, str]:
    """Of a whole model with adapters: the names of the base's own tensors, each with its name in the bare
    model. A model without adapters keeps its names."""
    canonical = {name: canonical_name(name).split(".") for name in names}
    prefix = list(WRAPPERS)
    wrapped = all(parts[: len(prefix)] == prefix for parts in canonical.values())
    bare = {name: parts[len(prefix) :] if wrapped else parts for name, parts in canonical.items()}
    homes = {tuple(parts[:-2]) for parts in bare.values() if len(parts) > 2 and parts[-2] in BASE}
    found = {}
    for name, parts in bare.items():
        if len(parts) > 2 and parts[-2] in BASE:
            found[name] = ".".join([*parts[:-2], parts[-1]])
        elif not any(tuple(parts[:end]) in homes for end in range(1, len(parts))):
            found[name] = ".".join(parts)
    return found


def base_state(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The base's own tensors in the state dict of a model with adapters, under the bare model's names."""
    return {bare: state[name] for name, bare in base_names(state).items()}
