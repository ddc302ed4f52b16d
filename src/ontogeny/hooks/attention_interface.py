"""Queries, keys, values and patterns of `transformers` models, seen inside their own attention call.

A function registered in the attention-interface registry runs the model's own eager attention and shows
its pattern; the mask function is registered under the same name, without which some families silently
lose causality. Nothing of the model is rewritten; the names in its configs are put back on exit.
"""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn

from ontogeny.hooks.watch import Watch

NAME = "ontogeny"

#: What is watched at an attention module: sites `query`, `key`, `value`, `attention`.
AtAttention = Mapping[str, Watch]

#: Those in force, in the order in which they were attached.
_active: dict[nn.Module, list[AtAttention]] = {}


def _tapped(module: Any, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, **options: Any):
    watches = _active.get(module, [])
    query, key, value = (
        shown(watches, site, tensor) for site, tensor in (("query", query), ("key", key), ("value", value))
    )
    eager = sys.modules[type(module).__module__].eager_attention_forward
    output, pattern = eager(module, query, key, value, mask, **options)
    changed = shown(watches, "attention", pattern)
    if changed is not pattern:
        output = mixed(changed, value).transpose(1, 2).contiguous()
    return output, pattern


def shown(watches: list[AtAttention], site: str, tensor: Tensor) -> Tensor:
    """What goes on after every watch of a site saw a tensor, in order."""
    for watch in watches:
        if site in watch:
            tensor = watch[site].shown(tensor)
    return tensor


def mixed(pattern: Tensor, value: Tensor) -> Tensor:
    """Values mixed by a pattern, each key-value head serving its group of heads."""
    spread = value.repeat_interleave(pattern.shape[1] // value.shape[1], dim=1)
    return pattern.to(spread.dtype) @ spread


@contextmanager
def tapped_attention(model: nn.Module, watches: Mapping[nn.Module, AtAttention]) -> Iterator[None]:
    """Within the block attention modules of `model` compute eagerly and show what they compute.

    query [sequence head position channel] and key, value (of key-value heads), both after position
    encoding, and the pattern [sequence head query key].
    """
    from transformers import AttentionInterface, AttentionMaskInterface  # an optional extra
    from transformers.masking_utils import eager_mask

    AttentionInterface.register(NAME, _tapped)
    AttentionMaskInterface.register(NAME, eager_mask)
    configs = {id(c): c for m in model.modules() if (c := getattr(m, "config", None)) is not None}
    named = {key: config for key, config in configs.items() if hasattr(config, "_attn_implementation")}
    before = {key: config._attn_implementation for key, config in named.items()}
    try:
        for module, watch in watches.items():
            _active.setdefault(module, []).append(watch)
        for config in named.values():
            config._attn_implementation_internal = NAME
        yield
    finally:
        for key, config in named.items():
            config._attn_implementation_internal = before[key]
        for module, watch in watches.items():
            _active[module].remove(watch)
            if not _active[module]:
                del _active[module]
