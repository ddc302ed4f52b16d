"""The directions that the fixed sample of a residual stream varies along."""

from ontogeny.evidence.kinds import derived
from ontogeny.numerics.canonical import View, view_of
from ontogeny.numerics.similarity import Items
from ontogeny.vocabulary import Reading


@derived("sample_directions", at="residual")
def of_residual(centred_sample: Items) -> View | Reading:
    """Singular vectors and values of the centred sample."""
    return view_of(centred_sample)
