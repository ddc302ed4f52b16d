"""Interventions in a loop of somebody else's: which can be there, and when they act."""

import functools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from torch import Tensor

from ontogeny.catalogue import Intervention
from ontogeny.errors import BadContract
from ontogeny.record.taping import Advance
from ontogeny.vocabulary import TrainingState

#: What lies inside of `advance`, where nobody else can reach it.
HIDDEN = {
    "draw": "the loop's batches are given, not drawn",
    "forward": "the forward pass is inside of advance",
    "schedule": "the schedule is the loop's own",
}


def require_reachable(interventions: Sequence[Intervention]) -> None:
    """BadContract for an intervention that acts on something a foreign loop keeps to itself."""
    for made in interventions:
        for what, reason in HIDDEN.items():
            if what in made.extent:
                raise BadContract(
                    f"{type(made).__name__} cannot act in a foreign loop: {reason}",
                    received=f"extent {', '.join(sorted(made.extent))}",
                    allowed="extents of model, optimizer, gradients, stop",
                    remedy="write the change into another advance, or train from a recipe",
                )


def interventions_of(state: TrainingState) -> list[Intervention]:
    """The interventions among the parts of a state, in their order."""
    return [part for part in state.values() if isinstance(part, Intervention)]


def acting(advance: Advance) -> Advance:
    """`advance`, with the interventions of the state it is given.

    `edit_state` comes before it; `on_gradients` and `on_update` come right before and after the step of the
    state's optimizer; `on_loss` comes last, as nobody knows the loss before. Where none is in its window,
    nothing is touched.
    """

    def act(state: TrainingState, batch: Any) -> Any:
        step = state["counters"].step
        active = [made for made in interventions_of(state) if step in made.window]
        if not active:
            return advance(state, batch)
        for made in active:
            if step == made.window.start:
                made.edit_state(state, step)
        with _around_the_update(state, active, step):
            loss = advance(state, batch)
        found = float(loss.detach()) if isinstance(loss, Tensor) else float(loss)
        for made in active:
            made.on_loss(found, step)
        return loss

    return act


@contextmanager
def _around_the_update(state: TrainingState, active: Sequence[Intervention], step: int) -> Iterator[None]:
    """Inside the block the optimizer's step is taken between the interventions.

    BadContract for a second step, or one that computes its gradients itself.
    """
    optimizer = state["optimizer"]
    own, patched, taken = optimizer.step, "step" in vars(optimizer), 0

    @functools.wraps(own)  # schedules look for their mark on it
    def between(*arguments: Any, **named: Any) -> Any:
        nonlocal taken
        taken += 1
        if taken > 1 or arguments or named:
            raise BadContract(
                "interventions can act around one plain optimizer.step() of each advance",
                received="a second step" if taken > 1 else "a step with arguments",
            )
        for made in active:
            made.on_gradients(state, step)
        result = own()
        for made in active:
            made.on_update(state, step)
        return result

    optimizer.step = between
    try:
        yield
    finally:
        if patched:
            optimizer.step = own
        else:
            del optimizer.step
