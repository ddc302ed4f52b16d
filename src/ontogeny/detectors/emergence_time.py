"""emergence_time: when a score was halfway between chance and its best, and stayed there."""

import math

import numpy as np
from numpy.typing import NDArray

from ontogeny.catalogue import detector
from ontogeny.statistics.examined import check_settings, examined
from ontogeny.statistics.passing import judged_passing
from ontogeny.vocabulary import Detected, Located


@detector(source="definition ours; instruments.md FOR-05", finds=("rise",))
def emergence_time(
    steps: NDArray,
    values: NDArray,
    null: NDArray | None = None,
    *,
    chance: float = math.nan,
    hold: int = 3,
    level: float = 0.95,
    alpha: float = 0.01,
    least: float = 0.0,
) -> Detected:
    """When a score first reached chance + ½ (largest − chance), held for `hold` evaluations or to the end.

    Without `chance` it is the median of the first eighth of the evaluations (at least 3). The step is
    interpolated in ln step. p, interval and verdicts are those of `threshold`.

    Errors: BadContract if shapes disagree or steps do not increase. Values that are not finite are left out.
    Known: the same score at k times the steps -> k times the step, so leads (in log10 step) do not change.
    Misleads: the largest value is noise where the score is noisy, and moves the level; a score still rising
    at the end emerges later the longer one looks.
    """
    check_settings(level=level, alpha=alpha, least=least, hold=hold)
    series = examined(steps, values, null)
    if isinstance(series, Located):
        return series

    def target(several: NDArray) -> NDArray:
        begun = np.full(len(several), float(chance))
        if math.isnan(chance):
            begun = np.median(several[:, : max(3, several.shape[1] // 8)], axis=1)
        return begun + (several.max(axis=1) - begun) / 2

    return judged_passing(series, target, hold=hold, level=level, alpha=alpha, least=least)
