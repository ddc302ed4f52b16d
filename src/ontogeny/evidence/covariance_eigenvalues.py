"""Variances along principal directions: of a residual stream (centred), or σ² of a weight matrix."""

from typing import NamedTuple

from torch import Tensor

from ontogeny.evidence.kinds import derived
from ontogeny.evidence.residual_gram import Gram
from ontogeny.numerics import spectra
from ontogeny.vocabulary import Reading, Status, undefined


class Variances(NamedTuple):
    """Eigenvalues, largest first, and how many vectors they rest on (rows of the matrix, for weights)."""

    values: Tensor | Reading
    n: int


@derived("covariance_eigenvalues", at="matrix")
def of_weight(singular_values: Tensor) -> Variances:
    """σ², not centred."""
    return Variances(singular_values.square(), len(singular_values))


@derived("covariance_eigenvalues", at="residual")
def of_residual(residual_gram: Gram) -> Variances | Reading:
    """Of the centred covariance with divisor n − 1."""
    if residual_gram.n < 2:
        return undefined(Status.N_TOO_SMALL, f"{residual_gram.n} vectors have no covariance")
    return Variances(spectra.eigenvalues_of_gram(residual_gram.covariance()), residual_gram.n)
