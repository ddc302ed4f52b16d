"""Variances along principal directions: of a residual stream (centred), or σ² of a weight matrix."""

from typing import NamedTuple

from torch import Tensor

from ontogeny.evidence.kinds import derived
from ontogeny.evidence.residual_gram import Gram
from ontogeny.numerics import spectra
from ontogeny.vocabulary import Reading, Status, undefined


class Variances(NamedTuple):
    """Eigenvalues, largest first, and how many vectors they rest on (a matrix's longer side, for weights)."""

    values: Tensor | Reading
    n: int


@derived("covariance_eigenvalues", at="matrix")
def of_weight(singular_values: Tensor, weight: Tensor) -> Variances:
    """σ², not centred."""
    return Variances(singular_values.square(), max(weight.shape))


@derived("covariance_eigenvalues", at="residual")
def of_residual(residual_gram: Gram) -> Variances | Reading:
    """Of the centred covariance with divisor n − 1."""
    if residual_gram.n < 2:
        reason = f"{residual_gram.n} vectors have no covariance"
        return undefined(Status.N_TOO_SMALL, reason, n=residual_gram.n)
    covariance = residual_gram.covariance()
    if bool((covariance == 0).all()):
        return undefined(Status.CONSTANT_INPUT, "all vectors are equal", n=residual_gram.n)
    moment = float(residual_gram.outer.trace()) / (residual_gram.n - 1)
    return Variances(spectra.eigenvalues_of_gram(covariance, moment=moment), residual_gram.n)
