"""SPE-07."""

from ontogeny.catalogue import comparison
from ontogeny.numerics.similarity import biased_cka, debiased_cka
from ontogeny.vocabulary import Pair, Reading


@comparison(
    unit="similarity",
    source="Kornblith et al. 1905.00414; minibatch form Nguyen et al. 2010.15327 (recalled)",
    family="spectra",
    reference="final",
    layers=True,
    version=2,
)
def cka(centred_sample: Pair) -> dict[str, Reading]:
    """How similar a layer's geometry already is to what it will be at the final checkpoint.

    Debiased minibatch linear CKA of the same 1,280 tokens' residual vectors: HSIC₁ summed over batches of
    256, whatever the batches of the pass, and only then the ratio. Small negative values are kept. `biased`
    is the plain centred form on all of them. Also between every two layers of one checkpoint.

    Known: Y = cXQ -> 1; independent Gaussians, n = p = 256 -> 0 debiased, 0.50 biased.
    Misleads: a few dominant directions decide it; similar geometry is not the same function. Tokens of one
    sequence are not independent, so small values may be either sign.
    """
    return {"": debiased_cka(*centred_sample), "biased": biased_cka(*centred_sample)}
