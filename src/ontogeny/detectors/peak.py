"""peak: where a series is highest, with lower values on both sides."""

from numpy.typing import NDArray

from ontogeny.catalogue import detector
from ontogeny.statistics.examined import check_settings, examined, judged
from ontogeny.statistics.turning import described_peak, prominences, smoothed
from ontogeny.vocabulary import Detected, Located


@detector(source="definition ours; topographic prominence", finds=("peak",), null="monotone")
def peak(
    steps: NDArray,
    values: NDArray,
    null: NDArray | None = None,
    *,
    level: float = 0.95,
    alpha: float = 0.01,
    least: float = 0.0,
) -> Detected:
    """Where a series is highest inside its range, and by how much it stands above what lies on both sides.

    The strength is the largest prominence of the running mean of five (lone spikes pulled in): the smaller
    of its distances from the least value before it and after it. The null is a series that only rises or
    only falls.

    Step and interval are the median and the central `level` of the place of two-sided Gaussian bumps over
    checkpoints (AR(1) noise, no place, size or width favoured), linear in ln step between checkpoints.
    Errors: BadContract if shapes disagree or steps do not increase. Values that are not finite are left out.
    Known: a bump of 4 sds, 4 checkpoints wide, at 30 of 60 -> 30.
    Misleads: only the most prominent one is told; a level held between a rise and a fall has no one place,
    and its interval is too narrow.
    """
    check_settings(level=level, alpha=alpha, least=least)
    series = examined(steps, values, null)
    if isinstance(series, Located):
        return series

    def strength(several: NDArray) -> NDArray:
        return prominences(smoothed(several)).max(axis=1)

    much = float(strength(series.values[None])[0])
    found = described_peak(series, 1, much, level)
    return judged([found], [much], series, strength, alpha=alpha, least=least)
