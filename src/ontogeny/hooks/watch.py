"""What is watched while a model runs: where its calls belong, how many were seen, who is shown them."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from ontogeny.errors import BadContract, NotObservable
from ontogeny.vocabulary import Place

#: Sees a tensor at a place; what it returns, if anything, goes on in the tensor's stead.
Tap = Callable[[Place, Tensor], Tensor | None]


def recomputing() -> bool:
    """Whether this forward computation repeats an earlier one inside a backward pass (checkpointing)."""
    return torch._C._current_graph_task_id() != -1  # as torch.utils.checkpoint itself asks


class Watch:
    """The calls of one module (or attention function) in a pass, in order, and the tap that is shown them.

    `places` has one entry for each call of a pass; calls with None are not shown. A repetition under
    activation checkpointing is no call: a tap that only looked is not shown it; one that replaced something
    is asked again, since the gradient is otherwise that of another function.
    """

    def __init__(self, site: str, where: str, places: Sequence[Place | None], tap: Tap) -> None:
        self.site, self.where, self.places, self.tap = site, where, tuple(places), tap
        self.calls = self.seen = 0
        self._replaces = False

    def show(self, tensor: Tensor) -> Tensor | None:
        """Show a call's tensor to the tap; returns the replacement, if any."""
        if recomputing():
            return self._again(tensor)
        place = self.places[self.calls % len(self.places)]
        self.calls += 1
        self.seen += 1
        return None if place is None else self._asked(place, tensor)

    def shown(self, tensor: Tensor) -> Tensor:
        """What goes on after the tap saw a tensor."""
        changed = self.show(tensor)
        return tensor if changed is None else changed

    def _asked(self, place: Place, tensor: Tensor) -> Tensor | None:
        changed = self.tap(place, tensor)
        if changed is None:
            return None
        if changed.shape != tensor.shape:
            raise BadContract(
                f"a tap at {self.site} put a tensor of another shape there",
                received=list(changed.shape),
                allowed=f"{list(tensor.shape)}, or None to leave it",
            )
        self._replaces = True
        return changed

    def _again(self, tensor: Tensor) -> Tensor | None:
        if not self._replaces:
            return None
        if len(self.places) > 1:
            raise NotObservable(
                f"{self.where} is applied several times, and which time is being recomputed cannot be told",
                received="a replacement under activation checkpointing",
                remedy="switch checkpointing off where a tap replaces something, or only look",
            )
        place = next(iter(self.places))
        return None if place is None else self._asked(place, tensor)


def compiled(model: nn.Module) -> list[str]:
    """Paths of modules that run compiled: hooks registered now would never fire there."""
    return [path or "the model" for path, module in model.named_modules() if _compiled(module)]


def _compiled(module: Any) -> bool:
    return getattr(module, "_compiled_call_impl", None) is not None


def refuse_compiled(model: nn.Module) -> None:
    """NotObservable if anything of a model runs compiled: there, hooks registered from now on do not fire."""
    if any(map(_compiled, model.modules())):
        paths = compiled(model)
        raise NotObservable(
            "hooks do not fire in what was compiled before they were attached",
            received=f"compiled: {', '.join(paths[:3])}{' …' if len(paths) > 3 else ''}",
            remedy="attach before compiling, or run the model uncompiled, as Subject.run does",
        )


def unseen(watch: Watch) -> NotObservable:
    """The refusal of a pass in which something was not called as often as the map says."""
    return NotObservable(
        f"{watch.site} at {watch.where} was seen {watch.calls} times in a pass",
        received="a compiled function around it, a layer left out, or a map that is not this model's",
        allowed=f"{len(watch.places)} times",
        remedy="run the model uncompiled and whole, as Subject.run does, or correct the map",
    )
