"""When a series first passes a level and stays beyond it, described and held against the null."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ontogeny.statistics.autoregression import noise_memory, noise_sd
from ontogeny.statistics.contrast import REACH, detrended, steepness
from ontogeny.statistics.crossing import crossing, first_held, log_position, step_at
from ontogeny.statistics.examined import Examined, joined, judged
from ontogeny.statistics.posterior import weighted_interval
from ontogeny.statistics.sigmoids import crossings
from ontogeny.statistics.surrogate import without_step
from ontogeny.statistics.trend import without_outliers
from ontogeny.vocabulary import Detected, Located, Verdict

#: (values [series, point]) -> the level [series] that each has to pass.
Target = Callable[[NDArray], NDArray]


def judged_passing(
    series: Examined, target: Target, *, hold: int, level: float, alpha: float, least: float
) -> Detected:
    """The first point from which `hold` values in a row are at or above the target, and whether it is abrupt.

    The strength is the steepest contrast of 8 points before and after, the smooth trend taken out, within
    `hold` points of the passing; 0 where the target is never passed, or is held from the first point on.
    """

    def strength(several: NDArray) -> NDArray:
        index = first_held(several, target(several), hold)
        steep = steepness(detrended(series.steps, several), REACH, REACH)
        near = np.abs(np.arange(several.shape[1]) - index[:, None]) <= hold
        found = np.where(near, steep, 0.0).max(axis=1)
        return np.where(index > 0, np.maximum(found, 0.0), 0.0)

    aim = float(target(series.values[None])[0])
    index = int(first_held(series.values, aim, hold))
    if index < 0:
        reason = f"{aim:.4g} is never passed and held for {hold} checkpoints"
        return Located(Verdict.NONE, reason=joined(reason, series.note))
    if index == 0:
        reason = f"{aim:.4g} is held from the first checkpoint on"
        return Located(Verdict.BEFORE_START, reason=joined(reason, series.note))
    found = _described(series, aim, index, hold, level)
    much = float(strength(series.values[None])[0])
    return judged([found], [much], series, strength, alpha=alpha, least=least)


def _described(series: Examined, aim: float, index: int, hold: int, level: float) -> Located:
    positions, values = log_position(series.steps), without_outliers(series.values)
    step = step_at(float(crossing(positions, series.values, aim, hold)))
    rest = without_step(values)
    phi = float(noise_memory(rest))
    passed, weights = crossings(series.steps, values, phi, aim)
    low, high = float(series.steps[index - 1]), float(series.steps[index])
    if weights.sum() > 0:
        _, first, last = weighted_interval(passed, weights, level)
        low, high = step_at(first), step_at(last)
    before, after = values[max(index - REACH, 0) : index], values[index : index + REACH]
    return Located(
        Verdict.TRANSITION,
        step=step,
        low=min(low, step),
        high=max(high, step),
        level=level,
        size=float(after.mean() - before.mean()),
        quiet_sd=float(noise_sd(rest, phi)),
        kind="rise",
    )
