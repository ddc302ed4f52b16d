"""A logistic rise described: its half, width and interval, and how far it is beyond a smooth trend."""

import numpy as np
from numpy.typing import NDArray

from ontogeny.statistics.autoregression import noise_memory, noise_sd
from ontogeny.statistics.contrast import DEGREE
from ontogeny.statistics.crossing import step_at
from ontogeny.statistics.posterior import weighted_interval
from ontogeny.statistics.sigmoids import crossings, sigmoids_over
from ontogeny.statistics.surrogate import without_step
from ontogeny.statistics.trend import trends_over
from ontogeny.vocabulary import Located, Verdict


def beyond_trend(steps: NDArray, values: NDArray, explained: NDArray) -> NDArray:
    """√(RSS of the smooth trend − RSS of a shape) [series], 0 where the trend fits better.

    values [series, point]; `explained` [series] is the centred power the shape takes out.
    """
    whole = np.square(values - values.mean(axis=1, keepdims=True)).sum(axis=1)
    trend = np.square(values - trends_over(steps, degree=DEGREE).fit(values)).sum(axis=1)
    return np.sqrt(np.maximum(trend - (whole - explained), 0.0))


def described_rise(
    steps: NDArray, values: NDArray, width: float, width_limit: float, level: float
) -> Located:
    """The one logistic rise of values [point]: half, interval, size; `gradual` if wider than the limit."""
    rest = without_step(values)
    phi = float(noise_memory(rest))
    positions, weights = crossings(steps, values, phi, None)
    middle, low, high = weighted_interval(positions, weights, level)
    bank = sigmoids_over(steps)
    curve = bank.curves[int(np.square(bank.shares(values[None])[0]).argmax())]
    size = float(np.polyfit(curve, values, 1)[0])
    wide = width > width_limit
    return Located(
        Verdict.GRADUAL if wide else Verdict.TRANSITION,
        step=step_at(middle),
        low=step_at(low),
        high=step_at(high),
        level=level,
        size=size,
        width=float(width),
        quiet_sd=float(noise_sd(rest, phi)),
        reason=f"10 to 90 % takes {width:.2f} in ln step" if wide else "",
        kind="rise" if size >= 0 else "fall",
    )
