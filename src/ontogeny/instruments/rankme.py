"""SPE-04."""

from typing import Literal

from torch import Tensor

from ontogeny.catalogue import instrument
from ontogeny.evidence.covariance_eigenvalues import of_residual
from ontogeny.evidence.residual_gram import Gram
from ontogeny.numerics.spectra import rankme_of
from ontogeny.vocabulary import Reading, Status, undefined

#: Vectors needed for each feature.
VECTORS_A_FEATURE = 10


@instrument(
    unit="dimensions", source="Garrido et al. 2210.02885 (recalled); variant cov (checked)", family="spectra"
)
def rankme(
    singular_values: Tensor, residual_gram: Gram, *, variant: Literal["paper", "cov"] = "paper"
) -> Reading:
    """How many directions a layer's features spread over, as self-supervised learning measures it.

    exp(−Σ p log p), p = σ / Σσ + 1e-7, σ the singular values of all vectors of the residual stream but
    position 0's, not centred. `variant="cov"` puts the eigenvalues of the centred covariance (σ²) in σ's
    place, as a public implementation does: lower values, another scale. `n-too-small` below 10 vectors a
    feature.

    Known: orthonormal columns -> d; all vectors equal -> 1.
    Misleads: a large mean pulls it towards 1; many directions need not be useful ones.
    """
    n, width = residual_gram.n, len(residual_gram.total)
    if n < VECTORS_A_FEATURE * width:
        reason = f"{n} vectors of {width} features; {VECTORS_A_FEATURE * width} are needed"
        return undefined(Status.N_TOO_SMALL, reason, n=n)
    variances = of_residual(residual_gram) if variant == "cov" else None
    if isinstance(variances, Reading):
        return variances
    found = rankme_of(singular_values if variances is None else variances.values)
    return Reading(found.value, n=n, status=found.status, reason=found.reason)
