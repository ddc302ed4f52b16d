"""Directions of movement through weight space: cosines of displacements, and the spaces that updates span."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from ontogeny.numerics.spectra import entropy_rank, factors, singular_values
from ontogeny.vocabulary import Reading, Status, undefined

#: Tensors by name: one matrix, or all parameters.
Weights = Mapping[str, Tensor]
#: The share of energy that the directions counted must hold.
ENERGY = 0.9
#: Below this share of the largest singular value a direction is rounding.
ROUNDING = 1e-9


def displacement_cosine_of(first: tuple[Weights, Weights], second: tuple[Weights, Weights]) -> Reading:
    """The cosine between two displacements, each given as (from, to); float64, tensor by tensor.

    `n` counts elements. Status: `failed` where names or shapes differ, `nonfinite`, `constant-input` where
    one of them is no displacement.
    Known: a straight line -> 1; independent steps -> 0 ± 1 / √n.
    Misleads: in many dimensions a small cosine can be a strong agreement: its chance size is 1 / √n.
    """
    ends = (*first, *second)
    if refusal := _refuse(ends):
        return refusal
    sums, n = torch.zeros(3, dtype=torch.float64), 0
    for name in sorted(ends[0]):
        start, end, other_start, other_end = (_double(end[name]) for end in ends)
        one, other = end - start, other_end - other_start
        sums += torch.stack([(one * other).sum(), one.square().sum(), other.square().sum()])
        n += one.numel()
    dot, one_size, other_size = sums.tolist()
    if not one_size or not other_size:
        return undefined(Status.CONSTANT_INPUT, "nothing moved between two of the checkpoints", n=n)
    # By Cauchy and Schwarz it lies between −1 and 1; what lies beyond is rounding.
    return Reading(max(-1.0, min(1.0, dot / one_size**0.5 / other_size**0.5)), n=n)


def update_ranks(positions: Sequence[Tensor]) -> dict[str, Reading]:
    """How many directions successive differences of m + 1 positions [coordinate] take.

    `""`: the fewest singular directions of the m stacked differences that hold 90 % of their energy;
    `effective`: their entropy rank. Between 1 and m; `n` is m.
    Status: `constant-input` where nothing moved, `nonfinite`.
    Known: a straight line -> 1; m orthogonal steps of one length -> ⌈0.9 m⌉ and m.
    Misleads: one long step among short ones is all the energy; at most m directions can be seen.
    """
    spectrum = singular_values(_differences(positions))
    m = len(positions) - 1
    if isinstance(spectrum, Reading):
        return {"": spectrum, "effective": spectrum}
    if not spectrum[0] > 0:
        gap = undefined(Status.CONSTANT_INPUT, f"nothing moved in {m} steps", n=m)
        return {"": gap, "effective": gap}
    held = spectrum.square().cumsum(0) / spectrum.square().sum()
    effective = entropy_rank(spectrum)
    return {
        # Rounding of the sum must not ask for one direction more.
        "": Reading(float((held < ENERGY - ROUNDING).sum() + 1), n=m),
        "effective": Reading(effective.value, n=m, status=effective.status, reason=effective.reason),
    }


def overlap_of_halves(positions: Sequence[Tensor]) -> Reading:
    """(1 / k) ‖UᵀV‖² for the spaces that the earlier and the later k differences of 2k + 1 positions span.

    The mean squared cosine of their principal angles. Status: `rank-deficient` where k differences span
    fewer than k directions, `nonfinite`.
    Known: the same space -> 1; orthogonal spaces -> 0; random ones of d coordinates -> k / d.
    Misleads: every direction counts alike, however little of the movement it carries.
    """
    differences = _differences(positions)
    k = len(differences) // 2
    earlier, later = _basis(differences[:k]), _basis(differences[-k:])
    if isinstance(earlier, Reading) or isinstance(later, Reading):
        gaps = [side for side in (earlier, later) if isinstance(side, Reading)]
        return min(gaps, key=lambda gap: gap.status is not Status.NONFINITE)
    return subspace_overlap_of(earlier, later)


def subspace_overlap_of(here: Tensor, there: Tensor) -> Reading:
    """(1 / k) ‖UᵀV‖² of two orthonormal bases [k coordinate]; see `overlap_of_halves`."""
    return Reading(float((here @ there.mT).square().sum() / len(here)), n=len(here))


def _basis(differences: Tensor) -> Tensor | Reading:
    found = factors(differences)
    if isinstance(found, Reading):
        return found
    rank, wanted = int((found.values > ROUNDING * found.values[0]).sum()), len(differences)
    if rank < wanted:
        return undefined(Status.RANK_DEFICIENT, f"{wanted} differences span {rank} directions", n=wanted)
    return found.right


def _differences(positions: Sequence[Tensor]) -> Tensor:
    stacked = torch.stack([_double(position) for position in positions])
    return stacked[1:] - stacked[:-1]


def _refuse(ends: Sequence[Weights]) -> Reading | None:
    shapes = [{name: tuple(tensor.shape) for name, tensor in end.items()} for end in ends]
    if any(other != shapes[0] for other in shapes):
        return undefined(Status.FAILED, "the checkpoints have tensors of different names or shapes")
    for end in ends:
        for name, tensor in end.items():
            bad = int((~torch.isfinite(tensor)).sum())
            if bad:
                return undefined(Status.NONFINITE, f"{bad} elements{f' of {name}' if name else ''}")
    return None


def _double(tensor: Tensor) -> Tensor:
    # Apple's accelerator has no float64.
    return tensor.detach().cpu().to(torch.float64)
