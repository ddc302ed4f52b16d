"""The fixed sample of a residual stream made ready to be compared with another."""

from torch import Tensor

from ontogeny.evidence.kinds import derived
from ontogeny.numerics.similarity import Items, items_of
from ontogeny.vocabulary import Reading


@derived("centred_sample", at="residual")
def of_residual(residual_sample: Tensor) -> Items | Reading:
    """Centred in float64, with the sums of its own that every comparison of it needs."""
    return items_of(residual_sample)
