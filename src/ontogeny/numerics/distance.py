"""How far apart two weights are."""

import torch
from torch import Tensor

from ontogeny.vocabulary import Reading, Status, undefined


def weight_distance(here: Tensor, there: Tensor) -> dict[str, Reading]:
    """`""`: ‖here − there‖ (Frobenius), in the unit of the weights; `relative`: that over ‖there‖.

    Summed in float64; `n` counts elements. Distances of disjoint tensors add in quadrature.
    Status: `failed` where shapes differ, `nonfinite`; `zero-weight` for `relative` where ‖there‖ is 0.
    Known: equal tensors -> 0 and 0; there + c there -> |c| ‖there‖ and |c|.
    Misleads: a change of scale that a norm undoes counts like any other.
    """
    if here.shape != there.shape:
        gap = undefined(Status.FAILED, f"shapes {tuple(here.shape)} and {tuple(there.shape)}")
        return {"": gap, "relative": gap}
    n = here.numel()
    if not (torch.isfinite(here).all() and torch.isfinite(there).all()):
        gap = undefined(Status.NONFINITE, f"{_bad(here) + _bad(there)} elements of {n} twice", n=n)
        return {"": gap, "relative": gap}
    # Apple's accelerator has no float64.
    here, there = (side.detach().cpu().double() for side in (here, there))
    length, size = float((here - there).norm()), float(there.norm())
    relative = (
        Reading(length / size, n=n)
        if size > 0
        else undefined(Status.ZERO_WEIGHT, "the reference is 0 throughout", n=n)
    )
    return {"": Reading(length, n=n), "relative": relative}


def _bad(tensor: Tensor) -> int:
    return int((~torch.isfinite(tensor)).sum())
