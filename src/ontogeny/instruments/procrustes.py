"""SPE-09."""

from ontogeny.catalogue import comparison
from ontogeny.numerics.procrustes import procrustes_distance
from ontogeny.vocabulary import Pair, Reading


@comparison(
    unit="distance",
    source="Ding et al. 2108.01661 (recalled)",
    family="spectra",
    reference="final",
    layers=True,
)
def procrustes(centred_sample: Pair) -> dict[str, Reading]:
    """How far a layer's representation is from the final checkpoint's after the best rotation.

    2 − 2‖XᵀY‖_* for the same 1,280 tokens' residual vectors, centred and of Frobenius norm 1; from 0 to 2.
    `similarity` is 1 − d/2. Also between every two layers of one checkpoint.

    Known: Y = 3XQ -> 0; independent Gaussians, n = 1024, p = 64 -> 1.58, and 2 as n grows.
    Misleads: with few tokens for the features independent representations come near each other.
    """
    found = procrustes_distance(*centred_sample)
    if found.reason:
        return {"": found, "similarity": found}
    return {"": found, "similarity": Reading(1 - float(found.value) / 2, n=found.n)}
