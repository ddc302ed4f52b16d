"""threshold: when a series first passed a given level and stayed there."""

import math

import numpy as np
from numpy.typing import NDArray

from ontogeny.catalogue import detector
from ontogeny.statistics.examined import check_settings, examined
from ontogeny.statistics.passing import judged_passing
from ontogeny.vocabulary import Detected, Located


@detector(source="standard", finds=("rise",))
def threshold(
    steps: NDArray,
    values: NDArray,
    null: NDArray | None = None,
    *,
    at: float = math.nan,
    hold: int = 3,
    level: float = 0.95,
    alpha: float = 0.01,
    least: float = 0.0,
) -> Detected:
    """When a series first passed the level `at` upwards and held it for `hold` checkpoints, or to the end.

    Without `at` the level lies halfway between the median of the first eighth of the checkpoints and that of
    the last fifth (at least 3 each). The step is interpolated in ln step between the checkpoints around it.
    p asks whether the passing is more abrupt than the null's: the steepest contrast of 8 points before and
    after, within `hold` points of the passing, the smooth trend taken out. `before-start` if the level is
    held from the first checkpoint on.

    The interval is the central `level` of where logistic rises through the series pass the level (AR(1)
    noise, none favoured), widened to hold the step. For a fall, negate values and `at`.
    Errors: BadContract if shapes disagree or steps do not increase. Values that are not finite are left out.
    Known: a step of any size between checkpoints s and t, passed halfway -> √(s t).
    Misleads: noise that dips below the level for a moment delays the passing; a smooth trend passes every
    level, which is no transition.
    """
    check_settings(level=level, alpha=alpha, least=least, hold=hold)
    series = examined(steps, values, null)
    if isinstance(series, Located):
        return series

    def target(several: NDArray) -> NDArray:
        if not math.isnan(at):
            return np.full(len(several), float(at))
        points = several.shape[1]
        first, last = several[:, : max(3, points // 8)], several[:, -max(3, points // 5) :]
        return (np.median(first, axis=1) + np.median(last, axis=1)) / 2

    return judged_passing(series, target, hold=hold, level=level, alpha=alpha, least=least)
