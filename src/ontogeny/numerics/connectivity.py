"""Whether two sets of weights lie in one valley: the loss on the straight line between them (TRA-03)."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ontogeny.vocabulary import Reading, Status, undefined

#: Values of α, both ends among them.
POINTS = 25


@dataclass(frozen=True)
class Barrier:
    """The barrier, where on the line it stands, and the losses it was read from [point], by `alphas`.

    α = 1 is `here`, α = 0 is `there`. `alpha` is NaN where the barrier is undefined.
    """

    reading: Reading
    alpha: float
    alphas: NDArray[np.float64]
    losses: NDArray[np.float64]


def barrier(
    here: Mapping[str, Tensor],
    there: Mapping[str, Tensor],
    loss_of: Callable[[Mapping[str, Tensor]], float],
) -> Barrier:
    """How far the loss rises above the line between its ends: max over α of
    L(α here + (1 − α) there) − α L(here) − (1 − α) L(there), in the unit of the loss.

    25 values of α from 0 to 1; the largest is taken over the 23 between the ends, where it may be negative.
    `loss_of` sees a state of the two's names and dtypes. Tensors that are not floating point are taken from
    `here`. Status: `failed` where names or shapes differ, `nonfinite` where a loss on the line is.
    Known: equal states -> 0 exactly; a convex loss -> at most 0; two orders of one network's units -> above 0
    as they stand, 0 once aligned.
    Misleads: a straight line is one path; no barrier on it says one valley, a barrier does not say two.
    """
    alphas = np.linspace(0, 1, POINTS)
    wrong = [n for n in here.keys() | there.keys() if _shape(here, n) != _shape(there, n)]
    if wrong:
        reason = f"{min(wrong)} is not of one shape in both"
        return Barrier(undefined(Status.FAILED, reason), math.nan, alphas, np.full(POINTS, np.nan))
    losses = np.array([loss_of(_between(here, there, float(alpha))) for alpha in alphas])
    # Written so that equal ends give exactly their loss.
    heights = (losses - (losses[0] + alphas * (losses[-1] - losses[0])))[1:-1]
    bad = ~np.isfinite(losses)
    if bad.any():
        reason = f"the loss is {losses[bad][0]} at α = {alphas[bad][0]:.3g} ({bad.sum()} of {POINTS} points)"
        return Barrier(undefined(Status.NONFINITE, reason), math.nan, alphas, losses)
    top = int(heights.argmax())
    return Barrier(Reading(float(heights[top])), float(alphas[top + 1]), alphas, losses)


def _between(here: Mapping[str, Tensor], there: Mapping[str, Tensor], alpha: float) -> dict[str, Tensor]:
    """The state at α; the ends are the states themselves, bit for bit."""
    if alpha in (0, 1):
        return dict(here if alpha else there)
    return {
        name: torch.lerp(there[name], tensor, alpha) if tensor.is_floating_point() else tensor
        for name, tensor in here.items()
    }


def _shape(state: Mapping[str, Tensor], name: str) -> torch.Size | None:
    return state[name].shape if name in state else None
