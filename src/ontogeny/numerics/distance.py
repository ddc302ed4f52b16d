"""How far apart two weights are."""

import math
from collections.abc import Mapping

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


def distance_of_weights(here: Mapping[str, Tensor], there: Mapping[str, Tensor]) -> dict[str, Reading]:
    """As `weight_distance`, of all tensors together; `failed` where their names differ."""
    if here.keys() != there.keys():
        odd = ", ".join(sorted(here.keys() ^ there.keys())[:3])
        gap = undefined(Status.FAILED, f"only one side has {odd}")
        return {"": gap, "relative": gap}
    parts = [weight_distance(here[name], there[name]) for name in here]
    for readings in parts:
        if readings[""].reason:
            return readings
    n = sum(tensor.numel() for tensor in here.values())
    length = math.sqrt(sum(float(readings[""].value) ** 2 for readings in parts))
    size = math.sqrt(sum(float(tensor.detach().cpu().double().norm()) ** 2 for tensor in there.values()))
    relative = (
        Reading(length / size, n=n)
        if size > 0
        else undefined(Status.ZERO_WEIGHT, "the reference is 0 throughout", n=n)
    )
    return {"": Reading(length, n=n), "relative": relative}


def _bad(tensor: Tensor) -> int:
    return int((~torch.isfinite(tensor)).sum())
