"""SPE-05."""

from ontogeny.catalogue import instrument
from ontogeny.evidence.covariance_eigenvalues import Variances
from ontogeny.numerics.power_laws import rank_slope
from ontogeny.vocabulary import Reading


@instrument(
    unit="exponent",
    source="Agrawal et al., NeurIPS 2022; Stringer et al. 2019 (checked)",
    family="spectra",
    at=("residual",),
)
def alpha_req(covariance_eigenvalues: Variances) -> dict[str, Reading]:
    """How fast the variance falls from one principal direction of a layer to the next (α-ReQ).

    Minus the slope of log λ_i over log i, least squares with weights 1/i over ranks 11 … 100 (11 … d − 10
    below 110 features); λ are eigenvalues of the centred covariance, position 0 left out. `r_squared` says
    how straight those ranks are, `points` how many there are. `n-too-small` below 40 features,
    `rank-deficient` where one of the eigenvalues is 0.

    Known: λ_i = i^−1.5 -> 1.5; white Gaussian 1000 × 1024 -> 0.15. Near 1 in good representations.
    Misleads: any spectrum has a slope, and with d < 110 it rests on few ranks.
    """
    found, n = rank_slope(covariance_eigenvalues.values), covariance_eigenvalues.n
    if isinstance(found, Reading):
        return {"": found}
    return {
        "": Reading(found.slope, n=n),
        "r_squared": Reading(found.r_squared, n=n),
        "points": Reading(float(found.points), n=n),
    }
