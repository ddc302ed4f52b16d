"""Patterns of `transformers` models, seen inside their own attention call.

A function registered in the attention-interface registry runs the model's own eager attention and shows
its pattern; the mask function is registered under the same name, without which some families silently
lose causality. Nothing of the model is rewritten; the names in its configs are put back on exit.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn

NAME = "ontogeny"
Tap = Callable[[int, Tensor], Tensor | None]

_active: list[Tap] = []


def _tapped(module: Any, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, **options: Any):
    eager = sys.modules[type(module).__module__].eager_attention_forward
    output, pattern = eager(module, query, key, value, mask, **options)
    changed = _active[-1](int(module.layer_idx), pattern)
    if changed is not None:
        groups = query.shape[1] // value.shape[1]
        spread = value.repeat_interleave(groups, dim=1)
        output = (changed.to(spread.dtype) @ spread).transpose(1, 2).contiguous()
    return output, pattern


@contextmanager
def tapped_attention(model: nn.Module, tap: Tap) -> Iterator[None]:
    """Within the block every attention layer of `model` shows its pattern [sequence head query key]."""
    from transformers import AttentionInterface, AttentionMaskInterface  # an optional extra
    from transformers.masking_utils import eager_mask

    AttentionInterface.register(NAME, _tapped)
    AttentionMaskInterface.register(NAME, eager_mask)
    configs = {id(c): c for m in model.modules() if (c := getattr(m, "config", None)) is not None}
    before = {key: config._attn_implementation for key, config in configs.items()}
    _active.append(tap)
    try:
        for config in configs.values():
            config._attn_implementation_internal = NAME
        yield
    finally:
        _active.pop()
        for key, config in configs.items():
            config._attn_implementation_internal = before[key]
