"""Inputs and outputs of modules, seen through forward hooks that leave nothing behind."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from ontogeny.hooks.watch import Watch, unseen


@dataclass(frozen=True)
class Wire:
    """A watch on the input or the output of a module; with `heads`, its last axis is cut into that many."""

    module: nn.Module
    watch: Watch
    side: str = "output"
    heads: int = 0


@contextmanager
def tapped_modules(wires: Sequence[Wire]) -> Iterator[None]:
    """Within the block every wire's watch is shown what passes its module; hooks fire in the given order."""
    with ExitStack() as stack:
        for wire in wires:
            if wire.side == "input":
                handle = wire.module.register_forward_pre_hook(_before(wire), with_kwargs=True)
            else:
                handle = wire.module.register_forward_hook(_after(wire))
            stack.callback(handle.remove)
        yield


@contextmanager
def counted(model: nn.Module, watches: Sequence[Watch]) -> Iterator[None]:
    """Within the block every pass of `model` is checked: each watch was called as often as it expects.

    NotObservable, with the reason, at the end of the first pass that hooks did not see.
    """

    def begin(_module: nn.Module, _inputs: Any) -> None:
        for watch in watches:
            watch.calls = 0

    def end(_module: nn.Module, _inputs: Any, _output: Any) -> None:
        for watch in watches:
            if watch.calls != len(watch.places):
                raise unseen(watch)

    with ExitStack() as stack:
        stack.callback(model.register_forward_pre_hook(begin).remove)
        stack.callback(model.register_forward_hook(end).remove)
        yield


def _before(wire: Wire) -> Callable[..., Any]:
    def hook(_module: nn.Module, inputs: tuple[Any, ...], named: dict[str, Any]) -> Any:
        if inputs and isinstance(inputs[0], Tensor):
            changed = _show(wire, inputs[0])
            return None if changed is None else ((changed, *inputs[1:]), named)
        name = next(name for name, value in named.items() if isinstance(value, Tensor))
        changed = _show(wire, named[name])
        return None if changed is None else (inputs, {**named, name: changed})

    return hook


def _after(wire: Wire) -> Callable[..., Any]:
    def hook(_module: nn.Module, _inputs: Any, output: Any) -> Any:
        tensor = shown_output(output)
        changed = None if tensor is None else _show(wire, tensor)
        return None if changed is None else _with(output, changed)

    return hook


def _show(wire: Wire, tensor: Tensor) -> Tensor | None:
    if not wire.heads:
        return wire.watch.show(tensor)
    changed = wire.watch.show(tensor.unflatten(-1, (wire.heads, -1)))
    return None if changed is None else changed.flatten(-2)


def shown_output(output: Any) -> Tensor | None:
    """What of a module's output is looked at: the tensor, its logits, or the first of several."""
    if isinstance(output, Tensor):
        return output
    logits = getattr(output, "logits", None)
    if isinstance(logits, Tensor):
        return logits
    first = next(iter(output.values()), None) if isinstance(output, dict) else None
    first = output[0] if isinstance(output, tuple) and output else first
    return first if isinstance(first, Tensor) else None


def _with(output: Any, changed: Tensor) -> Any:
    if isinstance(output, Tensor):
        return changed
    if isinstance(output, dict):  # transformers' outputs are made for one caller, who is given this one
        output["logits" if isinstance(getattr(output, "logits", None), Tensor) else next(iter(output))] = (
            changed
        )
        return output
    return (changed, *output[1:])
