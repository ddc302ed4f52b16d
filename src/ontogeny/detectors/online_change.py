"""online_change: levels as they would have been noticed while the series arrived."""

from numpy.typing import NDArray

from ontogeny.catalogue import detector
from ontogeny.statistics.examined import check_settings, examined
from ontogeny.statistics.levels import judged_levels
from ontogeny.statistics.runlength import declared_changes, run_lengths
from ontogeny.vocabulary import Detected, Located


@detector(
    source="Adams & MacKay 2007, arXiv:0710.3742; instruments.md FOR-04",
    finds=("rise", "fall"),
)
def online_change(
    steps: NDArray,
    values: NDArray,
    null: NDArray | None = None,
    *,
    hazard: float = 0.01,
    confirm: int = 10,
    level: float = 0.95,
    alpha: float = 0.01,
    least: float = 0.0,
) -> Detected:
    """Where a new level began, by the posterior of how long the present one has lasted.

    Bayesian online detection on the standardised series: constant `hazard`, levels with a normal-gamma prior
    (α = β = 0.1, κ = 1), so a Student-t predictive. A change is declared where `confirm` points later
    P(run length = confirm) > ½, or where the likeliest run length falls from above twice `confirm` to
    `confirm` or less. (P(run length = 0) is the hazard whatever comes, and is not used.) Strength, p and
    interval are those of `pelt`.

    Errors: BadContract if shapes disagree or steps do not increase. Values that are not finite are left out.
    Known: a shift of 4 sds at 60 of 120 -> 60; P(run length = 0) = hazard at every point.
    Misleads: a change in the last points may not have been noticed yet; bare, without a null, remembering
    noise is full of levels; it standardises by the whole series, so it is online in its search and not in
    its scale.
    """
    check_settings(level=level, alpha=alpha, least=least, confirm=confirm)
    series = examined(steps, values, null)
    if isinstance(series, Located):
        return series

    def propose(several: NDArray) -> NDArray:
        return declared_changes(run_lengths(several, hazard), confirm)

    return judged_levels(series, propose, level=level, alpha=alpha, least=least)
