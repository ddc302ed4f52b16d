"""SPE-03."""

from ontogeny.catalogue import instrument
from ontogeny.evidence.covariance_eigenvalues import Variances
from ontogeny.numerics.spectra import participation_of
from ontogeny.vocabulary import Reading


@instrument(unit="dimensions", source="Gao et al. 2017; NerVE 2603.06922 (checked)", family="spectra")
def participation_ratio(covariance_eigenvalues: Variances) -> dict[str, Reading]:
    """How many directions share the variance.

    (Σλ)² / Σλ², λ = eigenvalues of the centred covariance of a residual stream (position 0 left out), or
    σ² of a weight matrix (not centred). `isotropic` is what isotropic Gaussian data of the same size would
    read, d / (1 + (d + 1) / n): compare with it when n < 50 d.

    Known: k equal variances -> k; isotropic Gaussian d = 64 -> 63.0 at n = 4096, 56.8 at n = 512.
    Misleads: with few vectors the sample size sets it; "participation ratio" elsewhere can mean ‖v‖₂/‖v‖₄.
    """
    read = participation_of(covariance_eigenvalues.values)
    read = Reading(read.value, n=covariance_eigenvalues.n, status=read.status, reason=read.reason)
    if isinstance(covariance_eigenvalues.values, Reading):
        return {"": read}
    width, n = len(covariance_eigenvalues.values), covariance_eigenvalues.n
    return {"": read, "isotropic": Reading(width / (1 + (width + 1) / n), n=n)}
