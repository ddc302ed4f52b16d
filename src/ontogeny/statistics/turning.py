"""Where a series turns round: bumps and bent lines over its checkpoints."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ontogeny.statistics.autoregression import noise_memory, noise_sd
from ontogeny.statistics.crossing import log_position, step_at
from ontogeny.statistics.examined import Examined
from ontogeny.statistics.posterior import shape_weights, weighted_interval
from ontogeny.statistics.trend import without_outliers
from ontogeny.vocabulary import Located, Verdict

#: Points of the running mean by which a peak's height is judged.
SMOOTH = 5
#: Widths of bumps in checkpoints, from the narrowest to a third of the series; places between checkpoints.
BUMP_WIDTHS, NARROWEST_BUMP, FINE = 12, 1.5, 3
#: Most places of bumps: in a long series they are further apart.
MOST_PLACES = 200
#: How many widths the two sides of a bump may differ by.
SKEW = 3


def smoothed(values: NDArray) -> NDArray:
    """Running mean of 5 points of values [series, point], without lone spikes, shorter at the ends."""
    clean = without_outliers(values)
    half, points = SMOOTH // 2, values.shape[1]
    sums = np.concatenate([np.zeros((len(clean), 1)), np.cumsum(clean, axis=1)], axis=1)
    low, high = np.maximum(np.arange(points) - half, 0), np.minimum(np.arange(points) + half + 1, points)
    return (sums[:, high] - sums[:, low]) / (high - low)


def prominences(values: NDArray) -> NDArray:
    """By how much each point of values [series, point] stands above the lower of what lies on both sides:
    the smaller of its heights above the least before it and above the least after it."""
    before = np.minimum.accumulate(values, axis=1)
    after = np.minimum.accumulate(values[:, ::-1], axis=1)[:, ::-1]
    return np.minimum(values - before, values - after)


def described_peak(series: Examined, sign: int, height: float, level: float) -> Located:
    """The largest bump of sign · values, its place and interval by a bank of two-sided bumps."""
    values = sign * without_outliers(series.values)
    phi = float(noise_memory(values - smoothed(values[None])[0]))
    places, curves = _bumps(values.size)
    weights, sizes = shape_weights(curves, np.ones((1, values.size)), values, phi)
    weights = np.where(sizes > 0, weights, 0.0)
    top = int(prominences(smoothed(values[None]))[0].argmax())
    middle, low, high = (float(top),) * 3
    if weights.sum() > 0:
        middle, low, high = weighted_interval(places, weights, level)
    return Located(
        Verdict.TRANSITION,
        step=_step(series.steps, middle),
        low=_step(series.steps, low),
        high=_step(series.steps, high),
        level=level,
        size=sign * height,
        quiet_sd=float(noise_sd(values, phi)),
        kind="peak" if sign > 0 else "trough",
    )


@lru_cache(maxsize=8)
def _bumps(points: int) -> tuple[NDArray, NDArray]:
    """Places [curve], in checkpoints, and bumps [curve, point] with a left and a right width each."""
    centres = np.arange(1, points - 2 + 1e-9, max(1 / FINE, points / MOST_PLACES))
    widths = np.geomspace(NARROWEST_BUMP, max(points / 3, 2 * NARROWEST_BUMP), BUMP_WIDTHS)
    place, left, right = (part.ravel() for part in np.meshgrid(centres, widths, widths, indexing="ij"))
    alike = np.abs(np.log(left / right)) <= SKEW * np.log(widths[1] / widths[0]) + 1e-9
    place, left, right = place[alike], left[alike], right[alike]
    off = np.arange(points) - place[:, None]
    width = np.where(off < 0, left[:, None], right[:, None])
    return place, np.exp(-((off / width) ** 2) / 2)


def bends(values: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """The bent line that fits values [series, point] best: where it bends, and its changes before and after.

    Each [series]; places in checkpoints, at least 3 from either end.
    """
    places, hinges, line = _hinges(values.shape[1])
    flat = line @ np.linalg.inv(line.T @ line)
    free = hinges - (hinges @ flat) @ line.T
    power = np.square(free).sum(axis=1)
    shares = values @ free.T
    best = (shares**2 / power).argmax(axis=1)
    turn = np.take_along_axis(shares, best[:, None], axis=1)[:, 0] / power[best]
    slope = (values @ flat)[:, 1] - turn * (hinges @ flat)[best, 1]
    place = places[best]
    return place, slope * place, (slope + turn) * (values.shape[1] - 1 - place)


@lru_cache(maxsize=8)
def _hinges(points: int) -> tuple[NDArray, NDArray, NDArray]:
    """Places [place], hinges max(x − place, 0) [place, point], and the straight line's terms [point, 2]."""
    x = np.arange(points, dtype=np.float64)
    places = np.arange(3, points - 4 + 1e-9, 1 / FINE)
    return places, np.maximum(x - places[:, None], 0.0), np.stack([np.ones(points), x], axis=1)


def described_bend(series: Examined, before: float, after: float, level: float) -> Located:
    """Where the bent line through a series bends, with its interval; size is the change after it."""
    values = without_outliers(series.values)
    places, hinges, line = _hinges(values.size)
    turn = hinges[np.abs(places - bends(values[None])[0][0]).argmin()]
    design = np.column_stack([line, turn])
    rest = values - design @ np.linalg.lstsq(design, values, rcond=None)[0]
    phi = float(noise_memory(rest))
    weights, _ = shape_weights(hinges, line.T, values, phi)
    middle, low, high = weighted_interval(places, weights, level)
    return Located(
        Verdict.TRANSITION,
        step=_step(series.steps, middle),
        low=_step(series.steps, low),
        high=_step(series.steps, high),
        level=level,
        size=after,
        quiet_sd=float(noise_sd(rest, phi)),
        reason="" if before * after < 0 else "it does not turn round",
        kind="reversal",
    )


def _step(steps: NDArray, place: float) -> float:
    """The step at a place between checkpoints, linear in ln step."""
    return step_at(float(np.interp(place, np.arange(steps.size), log_position(steps))))
