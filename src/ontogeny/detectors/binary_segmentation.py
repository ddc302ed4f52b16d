"""binary_segmentation: the levels of a series, one split after another."""

from numpy.typing import NDArray

from ontogeny.catalogue import detector
from ontogeny.statistics.examined import check_settings, examined
from ontogeny.statistics.levels import judged_levels
from ontogeny.statistics.partition import binary_partition, price_of_change
from ontogeny.vocabulary import Detected, Located


@detector(
    source="Scott & Knott 1974, Biometrics 30; as ruptures' Binseg, instruments.md FOR-04",
    finds=("rise", "fall"),
)
def binary_segmentation(
    steps: NDArray,
    values: NDArray,
    null: NDArray | None = None,
    *,
    penalty: float = 3.0,
    fewest: int = 3,
    memory: bool = True,
    level: float = 0.95,
    alpha: float = 0.01,
    least: float = 0.0,
) -> Detected:
    """Where a series' mean changes: split where it saves most, then each part again, while a split pays.

    Cost, price, strength, p and interval are those of `pelt`; only the search differs. It is greedy: the
    first split is never taken back.

    Errors: BadContract if shapes disagree or steps do not increase. Values that are not finite are left out.
    Known: one shift of 4 sds at 60 of 120 -> 60, as `pelt`.
    Misleads: a level that is left and come back to may hide from the first split, which then looks for one
    change where there are two; `pelt` finds both.
    """
    check_settings(level=level, alpha=alpha, least=least, fewest=fewest)
    series = examined(steps, values, null)
    if isinstance(series, Located):
        return series

    def propose(several: NDArray) -> NDArray:
        return binary_partition(several, price_of_change(several, penalty, memory=memory), fewest)

    return judged_levels(series, propose, level=level, alpha=alpha, least=least)
