"""SPE-07."""

from ontogeny.catalogue import comparison
from ontogeny.numerics.similarity import biased_cka, debiased_cka
from ontogeny.vocabulary import Pair, Reading


@comparison(
    unit="similarity",
    source="Kornblith et al. 1905.00414; minibatch form Nguyen et al. 2010.15327 (recalled)",
    reference="final",
)
def cka(residual_sample: Pair) -> dict[str, Reading]:
    """How similar a layer's geometry already is to what it will be at the final checkpoint.

    Debiased minibatch linear CKA of the same 1,024 tokens' residual vectors (batches of 256); `biased` is
    the plain centred form on all of them.

    Known: Y = cXQ -> 1; independent Gaussians, n = p = 256 -> 0 debiased, 0.50 biased.
    Misleads: a few dominant directions decide it; similar geometry is not the same function. Tokens of one
    sequence are not independent, so small values may be either sign.
    """
    return {
        "": debiased_cka(residual_sample.here, residual_sample.there),
        "biased": biased_cka(residual_sample.here, residual_sample.there),
    }
