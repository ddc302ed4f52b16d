"""The residual stream after each block, seen through forward hooks that leave nothing behind."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from torch import Tensor, nn

Tap = Callable[[int, int, Tensor], Tensor | None]


@contextmanager
def tapped_blocks(blocks: Sequence[nn.Module], tap: Tap, loops: int = 1) -> Iterator[None]:
    """Within the block `tap(layer, loop, residual)` sees, and may replace, what every block returns."""
    with ExitStack() as stack:
        for layer, block in enumerate(blocks):
            handle = block.register_forward_hook(_hook(layer, loops, tap))
            stack.callback(handle.remove)
        yield


def _hook(layer: int, loops: int, tap: Tap) -> Callable[[nn.Module, Any, Any], Any]:
    calls = 0

    def hook(_module: nn.Module, _inputs: Any, output: Any) -> Any:
        nonlocal calls
        loop, calls = calls % loops, calls + 1
        residual = output if isinstance(output, Tensor) else output[0]
        changed = tap(layer, loop, residual)
        if changed is None:
            return None
        return changed if isinstance(output, Tensor) else (changed, *output[1:])

    return hook
