"""Singular values of a weight matrix, or of the matrix of a residual stream's vectors (not centred)."""

from torch import Tensor

from ontogeny.evidence.kinds import derived
from ontogeny.evidence.residual_gram import Gram
from ontogeny.numerics import spectra
from ontogeny.vocabulary import Reading


@derived("singular_values", at="matrix")
def of_weight(weight: Tensor) -> Tensor | Reading:
    """Of the matrix itself, in float64."""
    return spectra.singular_values(weight)


@derived("singular_values", at="residual")
def of_residual(residual_gram: Gram) -> Tensor | Reading:
    """Square roots of the Gram's eigenvalues: those of the n × d matrix without keeping it."""
    eigenvalues = spectra.eigenvalues_of_gram(residual_gram.outer)
    return eigenvalues if isinstance(eigenvalues, Reading) else eigenvalues.clamp_min(0).sqrt()
