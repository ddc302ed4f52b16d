"""What two thin matrices make of one another: the circuits of a head, without the wide matrix between."""

import torch
from torch import Tensor
from torch.linalg import LinAlgError  # pyright: ignore[reportAttributeAccessIssue]  # not in its stub

from ontogeny.vocabulary import Reading, Status, undefined


def eigenvalues(square: Tensor) -> Tensor | Reading:
    """Eigenvalues of a real matrix that need not be symmetric [size], complex, in no particular order.

    Status: `nonfinite`, `n-too-small` if it is empty, `unconverged`.
    Known: a rotation by an angle φ -> exp(±iφ); a triangular matrix -> its diagonal.
    Misleads: of a matrix far from normal they are badly conditioned; their sum, the trace, is not.
    """
    if not square.numel():
        return undefined(Status.N_TOO_SMALL, "an empty matrix has no eigenvalues", n=0)
    if not bool(square.isfinite().all()):
        return undefined(Status.NONFINITE, "the matrix has entries that are not finite")
    try:
        return torch.linalg.eigvals(square.double())
    except LinAlgError as error:
        return undefined(Status.UNCONVERGED, f"the eigenvalues did not converge: {error}")


def product_moments(left: Tensor, right: Tensor) -> tuple[Tensor, Tensor]:
    """Σσ² and Σσ⁴ over the singular values σ of leftᵀ · right, both [thin wide], times one common factor.

    Only their ratio (Σσ²)² / Σσ⁴ has a meaning: each matrix is first divided by its largest entry.
    Known: left = right with orthonormal rows -> their number, twice.
    Misleads: nothing is divided where a matrix is zero throughout; both moments are 0 then.
    """
    left, right = _scaled(left), _scaled(right)
    between = (left @ left.mT) @ (right @ right.mT)
    return between.diagonal().sum(), (between * between.mT).sum()


def _scaled(matrix: Tensor) -> Tensor:
    work = matrix.double()
    largest = work.abs().max() if work.numel() else work.new_zeros(())
    return work / largest if bool(largest > 0) else work
