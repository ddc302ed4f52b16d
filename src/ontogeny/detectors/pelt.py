"""pelt: the levels of a series, as many as pay for themselves."""

from numpy.typing import NDArray

from ontogeny.catalogue import detector
from ontogeny.statistics.examined import check_settings, examined
from ontogeny.statistics.levels import judged_levels
from ontogeny.statistics.partition import optimal_partition, price_of_change
from ontogeny.vocabulary import Detected, Located


@detector(
    source="Killick, Fearnhead & Eckley 2012, arXiv:1101.1438; instruments.md FOR-04", finds=("rise", "fall")
)
def pelt(
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
    """Where a series' mean changes: the partition into levels that costs least, each change at its price.

    The cost is the squared deviation from segment means, the price `penalty` · s² · ln n with s from the
    median absolute difference of neighbours, and no segment is shorter than `fewest` points. With `memory`
    the price is raised to what a mean of remembering noise varies by: s² (1 + φ) / (1 − φ), φ from
    differences. The optimum is exact.

    Each change's p holds its contrast (up to 8 points on either side, the smooth trend taken out) against the
    largest contrast of all changes that the same search finds in each draw of the null. Its step is the
    middle of its gap in ln step; its interval the central `level` of where the change may lie, given AR(1)
    noise around two levels and no gap favoured; a gap itself is narrowed to its middle.

    Errors: BadContract if shapes disagree or steps do not increase. Values that are not finite are left out.
    Known: a shift of 4 sds at 60 of 120 -> 60; bare (memory off, no null) on white noise 0 of 300 false
    alarms at penalty 3, some 5 % at 2.
    Misleads: a slow rise becomes a staircase of small levels; a step smaller than the trend is bent into it.
    """
    check_settings(level=level, alpha=alpha, least=least, fewest=fewest)
    series = examined(steps, values, null)
    if isinstance(series, Located):
        return series

    def propose(several: NDArray) -> NDArray:
        return optimal_partition(several, price_of_change(several, penalty, memory=memory), fewest)

    return judged_levels(series, propose, level=level, alpha=alpha, least=least)
