"""Patterns of our own decoder: every attention module's replaceable function is replaced for a while."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from torch import Tensor

from ontogeny.models.decoder import attend_eagerly

Tap = Callable[[int, int, Tensor], Tensor | None]


@contextmanager
def tapped_attend(modules: Sequence[Any], tap: Tap) -> Iterator[None]:
    """Within the block `tap(layer, loop, pattern)` sees, and may replace, every attention pattern."""

    def attend(query: Tensor, key: Tensor, value: Tensor, *, layer: int, loop: int) -> Tensor:
        output, pattern = attend_eagerly(query, key, value)
        changed = tap(layer, loop, pattern)
        if changed is None:
            return output
        spread = value.repeat_interleave(query.shape[1] // value.shape[1], dim=1)
        return changed.to(spread.dtype) @ spread

    before = [module.attend for module in modules]
    try:
        for module in modules:
            module.attend = attend
        yield
    finally:
        for module, original in zip(modules, before, strict=True):
            module.attend = original
