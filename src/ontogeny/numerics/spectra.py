"""Singular values and eigenvalues of one matrix, and the ranks read off them.

Everything is computed in float64, whatever comes in (LAPACK refuses half precision). A spectrum is a tensor,
or a `Reading` that says why there is none; the ranks take either and hand a refusal on unchanged.
"""

from typing import NamedTuple

import numpy as np
import scipy.linalg
import torch
from torch import Tensor
from torch.linalg import LinAlgError  # pyright: ignore[reportAttributeAccessIssue]  # not in its stub

from ontogeny.vocabulary import Reading, Status, undefined

#: An eigenvalue below this share of the largest one counts as 0.
RELATIVE_ZERO = 1e-12
#: What RankMe adds to every share, so that no logarithm is of 0.
RANKME_FLOOR = 1e-7


class Factors(NamedTuple):
    """A singular value decomposition: left [row k], values [k] from the largest down, right [k column]."""

    left: Tensor
    values: Tensor
    right: Tensor


def singular_values(matrix: Tensor) -> Tensor | Reading:
    """Singular values of [row, column], largest first, [min(row, column)], float64.

    A finite check comes first: LAPACK reports NaN as a failure to converge. If the default driver does not
    converge, LAPACK's slower `gesvd` is tried on the unchanged matrix; then the status is `unconverged`.
    Known: an orthogonal matrix -> all 1; a zero matrix -> all 0.
    Misleads: values below about 1e-7 (float32) or 1e-3 (bfloat16) of the largest are the input's rounding.
    """
    refusal = _refuse_matrix(matrix)
    if refusal is not None:
        return refusal
    work = _double(matrix)
    try:
        return torch.linalg.svdvals(work)
    except LinAlgError:
        pass
    try:
        values = scipy.linalg.svd(work.cpu().numpy(), compute_uv=False, lapack_driver="gesvd")
    except np.linalg.LinAlgError as error:
        return undefined(Status.UNCONVERGED, f"neither gesdd nor gesvd converged: {error}")
    return torch.from_numpy(values).to(work.device)


def factors(matrix: Tensor) -> Factors | Reading:
    """The thin singular value decomposition of [row, column] in float64; checks, drivers and status as above.

    Known: an orthogonal matrix -> all values 1; left · values · right is the matrix.
    Misleads: directions of equal values are arbitrary, and so is every direction's sign.
    """
    refusal = _refuse_matrix(matrix)
    if refusal is not None:
        return refusal
    work = _double(matrix)
    try:
        return Factors(*torch.linalg.svd(work, full_matrices=False))
    except LinAlgError:
        pass
    try:
        found = scipy.linalg.svd(work.cpu().numpy(), full_matrices=False, lapack_driver="gesvd")
    except np.linalg.LinAlgError as error:
        return undefined(Status.UNCONVERGED, f"neither gesdd nor gesvd converged: {error}")
    return Factors(*(torch.from_numpy(side).to(work.device) for side in found))


def eigenvalues_of_gram(gram: Tensor, *, moment: float = 0.0) -> Tensor | Reading:
    """Eigenvalues of a Gram or covariance matrix [feature, feature], largest first, [feature], float64.

    Values below 1e-12 of the largest count as 0, and so do negative ones within rounding of the input's
    dtype; a matrix that is not symmetric, or has truly negative eigenvalues, is no Gram matrix: `failed`.
    Of a difference of two matrices (a covariance of vectors with a large mean), `moment` is the trace of the
    first: its rounding stays in the difference, and eigenvalues within it count as 0.
    Known: the identity -> all 1; XᵀX -> the squared singular values of X.
    Misleads: a Gram squares the condition number, so half of the digits of small values are lost.
    """
    refusal = _refuse_matrix(gram) or _refuse_gram(gram)
    if refusal is not None:
        return refusal
    work = _double(gram)
    work = (work + work.mT) / 2
    values = _symmetric_eigenvalues(work)
    if isinstance(values, Reading):
        return values
    lost = _rounding(gram) * moment
    if values[-1] < -max(_rounding(gram) * values.abs().max().item(), lost):
        return undefined(Status.FAILED, f"not a Gram matrix: it has an eigenvalue of {values[-1].item():.3g}")
    return torch.where(values < max(RELATIVE_ZERO * values[0].item(), lost, 0.0), 0.0, values)


def entropy_rank(singular_values: Tensor | Reading) -> Reading:
    """Effective rank (Roy and Vetterli 2007): exp(−Σ p log p) with p = σ / Σσ; in dimensions, 1 to rank.

    Given squared singular values it is the eigenvalue variant, which is lower; never mix the two in a plot.
    Status: `zero-weight` if every value is 0, `nonfinite`, `n-too-small` if there is none.
    Known: d equal values -> d; one value -> 1; a square Gaussian n×n -> 0.80 n.
    Misleads: a Gaussian matrix has not full effective rank, so "0.8" is what random looks like, not a loss.
    """
    values = checked_spectrum(singular_values)
    if isinstance(values, Reading):
        return values
    share = values / values.sum()
    return Reading(torch.special.entr(share).sum().exp().item())


def rankme_of(singular_values: Tensor | Reading) -> Reading:
    """RankMe (Garrido et al. 2022): exp(−Σ p log p) with p = σ / Σσ + 1e-7; in dimensions, 1 to d.

    Status: as `entropy_rank`.
    Known: d equal values -> d; one value among d -> 1, but for 1e-7 · 16 for each of the others.
    Misleads: as `entropy_rank`; it differs from it by the 1e-7 alone.
    """
    values = checked_spectrum(singular_values)
    if isinstance(values, Reading):
        return values
    share = values / values.sum() + RANKME_FLOOR
    return Reading(torch.special.entr(share).sum().exp().item())


def stable_rank_of(singular_values: Tensor | Reading) -> Reading:
    """Stable rank: Σσ² / max σ²; in dimensions, 1 to rank, unchanged by scale.

    Status: as `entropy_rank`.
    Known: an orthogonal d×d -> d; a Gaussian m×n -> mn / (√m + √n)², a quarter of n if square.
    Misleads: it follows the single largest value; one outlier direction hides all others.
    """
    values = checked_spectrum(singular_values)
    return values if isinstance(values, Reading) else Reading(values.square().sum().item())


def participation_of(eigenvalues: Tensor | Reading) -> Reading:
    """Participation ratio: (Σλ)² / Σλ² of the *centred* covariance's eigenvalues; in dimensions, 1 to d.

    Status: as `entropy_rank`.
    Known: k equal eigenvalues -> k; d isotropic Gaussian features from n samples -> d / (1 + (d + 1) / n).
    Misleads: with n below about 50 d the sample size, not the data, sets it; an uncentred mean counts as a
    direction.
    """
    values = checked_spectrum(eigenvalues)
    return (
        values if isinstance(values, Reading) else Reading((values.sum() ** 2 / values.square().sum()).item())
    )


def _symmetric_eigenvalues(work: Tensor) -> Tensor | Reading:
    try:
        return torch.linalg.eigvalsh(work).flip(0)
    except LinAlgError:
        pass
    try:
        values = scipy.linalg.eigh(work.cpu().numpy(), eigvals_only=True, driver="ev")
    except np.linalg.LinAlgError as error:
        return undefined(Status.UNCONVERGED, f"neither the default driver nor syev converged: {error}")
    return torch.from_numpy(values[::-1].copy()).to(work.device)


def _refuse_matrix(matrix: Tensor) -> Reading | None:
    if matrix.ndim != 2:
        return undefined(Status.FAILED, f"a matrix has two axes; received shape {tuple(matrix.shape)}")
    if matrix.numel() == 0:
        return undefined(Status.N_TOO_SMALL, f"an empty matrix, shape {tuple(matrix.shape)}", n=0)
    if matrix.is_complex():
        return undefined(Status.FAILED, f"a real matrix is needed; received {matrix.dtype}")
    return _refuse_nonfinite(matrix)


def _refuse_nonfinite(values: Tensor) -> Reading | None:
    bad = ~torch.isfinite(values)
    count = int(bad.sum())
    if not count:
        return None
    first = tuple(bad.nonzero()[0].tolist())
    return undefined(Status.NONFINITE, f"{count} of {values.numel()} entries, the first at {first}")


def _refuse_gram(gram: Tensor) -> Reading | None:
    if gram.shape[0] != gram.shape[1]:
        return undefined(Status.FAILED, f"a Gram matrix is square; received shape {tuple(gram.shape)}")
    work = _double(gram)
    gap = (work - work.mT).abs().max().item()
    if gap > _rounding(gram) * work.abs().max().item():
        return undefined(Status.FAILED, f"not a Gram matrix: it differs from its transpose by {gap:.3g}")
    return None


def _rounding(matrix: Tensor) -> float:
    """What rounding in the dtype that came in can do, relative to the largest value."""
    dtype = matrix.dtype if matrix.is_floating_point() else torch.float64
    return 10 * matrix.shape[0] * torch.finfo(dtype).eps


def checked_spectrum(values: Tensor | Reading) -> Tensor | Reading:
    """A spectrum divided by its largest value, so that no square can overflow; or why there is none."""
    if isinstance(values, Reading):
        return values
    if values.ndim != 1 or values.is_complex():
        return undefined(
            Status.FAILED, f"a spectrum is one real axis; received {values.dtype} {tuple(values.shape)}"
        )
    if values.numel() == 0:
        return undefined(Status.N_TOO_SMALL, "an empty spectrum", n=0)
    refusal = _refuse_nonfinite(values)
    if refusal is not None:
        return refusal
    work = _double(values)
    if work.min() < 0:
        return undefined(
            Status.FAILED, f"a spectrum has no negative values; received {work.min().item():.3g}"
        )
    if work.max() == 0:
        return undefined(Status.ZERO_WEIGHT, "every value of the spectrum is 0")
    return work / work.max()


def _double(values: Tensor) -> Tensor:
    values = values.detach()
    # Apple's accelerator has no float64.
    return (values.cpu() if values.device.type == "mps" else values).to(torch.float64)
