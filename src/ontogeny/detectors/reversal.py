"""reversal: where the trend of a series turns round."""

import numpy as np
from numpy.typing import NDArray

from ontogeny.catalogue import detector
from ontogeny.statistics.examined import check_settings, examined, judged
from ontogeny.statistics.trend import without_outliers
from ontogeny.statistics.turning import bends, described_bend
from ontogeny.vocabulary import Detected, Located


@detector(source="definition ours; broken-line regression", finds=("reversal",), null="monotone")
def reversal(
    steps: NDArray,
    values: NDArray,
    null: NDArray | None = None,
    *,
    level: float = 0.95,
    alpha: float = 0.01,
    least: float = 0.0,
) -> Detected:
    """Where the trend of a series turns round: the bend of the best bent line over checkpoints.

    The strength is the smaller of the line's changes before and after the bend, 0 if both go the same way.
    The null is a series that only rises or only falls. `size` is the change after the bend.

    Step and interval are the median and the central `level` of the bend's posterior (AR(1) noise, no place
    and no slope favoured), linear in ln step between checkpoints.
    Errors: BadContract if shapes disagree or steps do not increase. Values that are not finite are left out.
    Known: up for 30 checkpoints and down for 30 -> the checkpoint between.
    Misleads: lines are straight over checkpoints, so their spacing matters; a turn in the last few
    checkpoints is not seen; of several turns the one that bends most is told.
    """
    check_settings(level=level, alpha=alpha, least=least)
    series = examined(steps, values, null)
    if isinstance(series, Located):
        return series

    def strength(several: NDArray) -> NDArray:
        _, before, after = bends(without_outliers(several))
        return np.where(before * after < 0, np.minimum(np.abs(before), np.abs(after)), 0.0)

    much = float(strength(series.values[None])[0])
    _, before, after = (float(part[0]) for part in bends(without_outliers(series.values[None])))
    found = described_bend(series, before, after, level)
    return judged([found], [much], series, strength, alpha=alpha, least=least)
