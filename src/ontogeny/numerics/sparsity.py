"""How many elements of a difference are small."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from ontogeny.numerics.spectra import singular_values
from ontogeny.vocabulary import Reading, Status, undefined

#: Shares are over at most this many elements at a time.
SLICE = 1 << 24


def unmoved_shares(
    here: Mapping[str, Tensor],
    there: Mapping[str, Tensor],
    tolerances: Sequence[float],
    dtype: torch.dtype,
) -> dict[float, Reading]:
    """The share of elements with |here − there| ≤ each tolerance, both sides rounded to `dtype` first.

    `n` counts elements. Status: `failed` where names or shapes differ, `nonfinite`, `n-too-small` for none.
    Known: equal sides -> 1; a change of 1e-3 in every element -> 0 at 1e-5.
    Misleads: in bfloat16 a weight near 0.01 has a spacing of 6e-5: what is smaller is rounded away.
    """
    gap = _refuse(here, there)
    if gap is not None:
        return dict.fromkeys(tolerances, gap)
    small, n = torch.zeros(len(tolerances), dtype=torch.float64), 0
    for name in here:
        pairs = zip(_slices(here[name]), _slices(there[name]), strict=True)
        for one, other in pairs:
            # In the dtype's own arithmetic, as a program that keeps its weights in it would subtract.
            size = (one.to(dtype) - other.to(dtype)).abs()
            small += torch.stack([(size <= tolerance).sum() for tolerance in tolerances]).double().cpu()
            n += size.numel()
    return {t: Reading(float(count) / n, n=n) for t, count in zip(tolerances, small, strict=True)}


def rank_of_change(here: Tensor, there: Tensor) -> Reading:
    """Numerical rank of here − there [row column]: singular values above max(row, column) · eps of the first.

    eps is float32's, the dtype of the weights. Status: `failed` where shapes differ, as `singular_values`.
    Known: no change -> 0; a product of [row r] and [r column] -> r.
    Misleads: rounding of every element gives a change of low rank full rank, if it is small beside it.
    """
    if here.shape != there.shape:
        return undefined(Status.FAILED, f"shapes {tuple(here.shape)} and {tuple(there.shape)}")
    values = singular_values(here.detach().cpu().double() - there.detach().cpu().double())
    if isinstance(values, Reading):
        return values
    tolerance = max(here.shape) * torch.finfo(torch.float32).eps
    return Reading(float((values > tolerance * values[0]).sum()), n=min(here.shape))


def _slices(tensor: Tensor) -> tuple[Tensor, ...]:
    return tensor.detach().flatten().split(SLICE)


def _refuse(here: Mapping[str, Tensor], there: Mapping[str, Tensor]) -> Reading | None:
    shapes = [{name: tuple(tensor.shape) for name, tensor in side.items()} for side in (here, there)]
    if shapes[0] != shapes[1]:
        return undefined(Status.FAILED, "the checkpoints have tensors of different names or shapes")
    if not any(tensor.numel() for tensor in here.values()):
        return undefined(Status.N_TOO_SMALL, "there are no elements", n=0)
    for side in (here, there):
        bad = sum(int((~torch.isfinite(tensor)).sum()) for tensor in side.values())
        if bad:
            return undefined(Status.NONFINITE, f"{bad} elements are not finite")
    return None
