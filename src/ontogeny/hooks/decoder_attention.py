"""Our own decoder's attention: every module's replaceable function is replaced for a while."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from torch import Tensor

from ontogeny.hooks.attention_interface import AtAttention, mixed, shown
from ontogeny.models.decoder import attend_eagerly


class Shown:
    """An attention function that shows queries, keys and values, and patterns if anybody looks at them.

    Where nobody does, the function it stands for (torch's fused kernel) computes the output.
    """

    def __init__(self, watches: list[AtAttention], instead_of: Callable[..., Tensor]) -> None:
        self.watches, self.instead_of = watches, instead_of

    def __call__(self, query: Tensor, key: Tensor, value: Tensor, *, layer: int, loop: int) -> Tensor:
        query, key, value = (
            shown(self.watches, site, tensor)
            for site, tensor in (("query", query), ("key", key), ("value", value))
        )
        if not any("attention" in watch for watch in self.watches):
            return self.instead_of(query, key, value, layer=layer, loop=loop)
        output, pattern = attend_eagerly(query, key, value)
        changed = shown(self.watches, "attention", pattern)
        return output if changed is pattern else mixed(changed, value)


@contextmanager
def tapped_attend(watches: Mapping[Any, AtAttention]) -> Iterator[None]:
    """Within the block the attention modules of a decoder show what they compute; taps may be nested."""
    before = {module: module.attend for module in watches}
    try:
        for module, watch in watches.items():
            outer = before[module]
            if isinstance(outer, Shown):
                module.attend = Shown([*outer.watches, watch], outer.instead_of)
            else:
                module.attend = Shown([watch], outer)
        yield
    finally:
        for module, original in before.items():
            module.attend = original
