"""sigmoid: one rise or fall from level to level, logistic in ln step."""

import math

import numpy as np
from numpy.typing import NDArray

from ontogeny.catalogue import detector
from ontogeny.statistics.examined import check_settings, examined, judged
from ontogeny.statistics.logistic import beyond_trend, described_rise
from ontogeny.statistics.sigmoids import sigmoids_over
from ontogeny.statistics.trend import without_outliers
from ontogeny.vocabulary import Detected, Located


@detector(source="definition ours; logistic growth, Verhulst 1838", finds=("rise", "fall"))
def sigmoid(
    steps: NDArray,
    values: NDArray,
    null: NDArray | None = None,
    *,
    width_limit: float = math.log(6),
    level: float = 0.95,
    alpha: float = 0.01,
    least: float = 0.0,
) -> Detected:
    """When a series passed half of one logistic rise (or fall) in ln step, and how wide that is.

    Least squares over a bank of curves, a centre in every gap and eight widths, lone spikes pulled in. The
    strength is by how much the best curve fits better than the best smooth trend (`trend_matched`, without
    cubics): √(RSS of the trend − RSS of the rise). p is the null's chance of that. A rise that takes longer
    than `width_limit` in ln step, from 10 to 90 %, is `gradual`.

    The interval is the central `level` of the centre's posterior over a finer bank: AR(1) noise, levels and
    noise unknown, no gap and no width (on a log scale) favoured.
    Errors: BadContract if shapes disagree or steps do not increase. Values that are not finite are left out.
    Known: a logistic rise -> its half and width, within the bank; a step -> its gap.
    Misleads: two rises are read as one wide one (`double_sigmoid`); a rise on top of a trend may be no
    better than the trend alone.
    """
    check_settings(level=level, alpha=alpha, least=least)
    series = examined(steps, values, null)
    if isinstance(series, Located):
        return series
    bank, clean = sigmoids_over(series.steps), without_outliers(series.values)

    def strength(several: NDArray) -> NDArray:
        tidy = without_outliers(several)
        explained = np.square(bank.shares(tidy)).max(axis=1)
        return beyond_trend(series.steps, tidy, explained)

    best = int(np.square(bank.shares(clean[None])[0]).argmax())
    found = described_rise(series.steps, clean, bank.widths[best], width_limit, level)
    much = float(strength(series.values[None])[0])
    return judged([found], [much], series, strength, alpha=alpha, least=least)
