"""Where the mean of a series changes: the best partition at a price per change, and the greedy one.

Both work on many series at once, because a null's 199 draws are partitioned as the series itself is. The
optimum is that of PELT (Killick et al. 2012), which is exact: `ruptures.Pelt(model="l2", jump=1)` finds it
for one series at a time.
"""

import numpy as np
from numpy.typing import NDArray

from ontogeny.statistics.autoregression import MAD_TO_SD, inflation, noise_memory


def optimal_partition(values: NDArray, penalty: NDArray, least: int) -> NDArray:
    """First points of all segments but the first, as booleans [series, point] of values [series, point].

    Minimises the squared deviations from segment means plus penalty [series] for every change, over all
    partitions into segments of at least `least` points.
    Known: two levels that differ by much more than √penalty -> the one change between them.
    """
    series, points = values.shape
    sums, squares = _sums(values)
    best = np.full((points + 1, series), np.inf)
    best[0] = -penalty
    last = np.zeros((points + 1, series), dtype=np.int64)
    counts = np.arange(points + 1)[:, None]
    for end in range(least, points + 1):
        starts = end - least + 1
        total = sums[end] - sums[:starts]
        cost = squares[end] - squares[:starts] - total * total / (end - counts[:starts]) + best[:starts]
        last[end] = cost.argmin(axis=0)
        best[end] = np.take_along_axis(cost, last[end][None], axis=0)[0] + penalty
    return _walked_back(last, series, points)


def _walked_back(last: NDArray, series: int, points: int) -> NDArray:
    changes = np.zeros((series, points), dtype=bool)
    rows, at = np.arange(series), np.full(series, points)
    while True:
        at = last[at, rows]
        inside = at > 0
        if not inside.any():
            return changes
        changes[rows[inside], at[inside]] = True


def binary_partition(values: NDArray, penalty: NDArray, least: int) -> NDArray:
    """As `optimal_partition`, but one change after another, each where it then saves most.

    A change is kept while it saves more than penalty [series] (`ruptures.Binseg(model="l2", jump=1)`).
    """
    series, points = values.shape
    sums, _ = _sums(values)
    sums = sums.T
    changes = np.zeros((series, points), dtype=bool)
    rows, place = np.arange(series), np.arange(points)[None]
    active = np.ones(series, dtype=bool)
    while active.any():
        left, right = segment_ends(changes)
        before, after = place - left, right - place
        fits = (before >= least) & (after >= least) & ~changes
        first = np.take_along_axis(sums, left, axis=1)
        middle, final = sums[:, :points], np.take_along_axis(sums, right, axis=1)
        means = (final - middle) / np.maximum(after, 1) - (middle - first) / np.maximum(before, 1)
        saved = np.where(fits, means**2 * before * after / np.maximum(before + after, 1), -np.inf)
        chosen = saved.argmax(axis=1)
        active = active & (saved[rows, chosen] > penalty)
        changes[rows[active], chosen[active]] = True
    return changes


def segment_ends(changes: NDArray) -> tuple[NDArray, NDArray]:
    """For every point, where the segment *before* it began and where the one it is in ends [series, point].

    A point that begins a segment looks back at the whole segment before it; any other looks at its own.
    """
    points = changes.shape[1]
    place = np.arange(points)[None]
    begun = np.maximum.accumulate(np.where(changes, place, 0), axis=1)
    left = np.concatenate([np.zeros_like(begun[:, :1]), begun[:, :-1]], axis=1)
    following = np.where(changes, place, points)
    nearest = np.minimum.accumulate(following[:, ::-1], axis=1)[:, ::-1]
    right = np.concatenate([nearest[:, 1:], np.full_like(nearest[:, :1], points)], axis=1)
    return left, right


def _sums(values: NDArray) -> tuple[NDArray, NDArray]:
    """Running sums of the centred values and of their squares [point + 1, series], beginning at 0."""
    centred = (values - values.mean(axis=1, keepdims=True)).T
    zero = np.zeros((1, centred.shape[1]))
    both = (np.concatenate([zero, np.cumsum(part, axis=0)]) for part in (centred, centred**2))
    sums, squares = both
    return sums, squares


def price_of_change(values: NDArray, penalty: float, *, memory: bool) -> NDArray:
    """penalty · s² · ln n [series] of values [series, point], s the noise's sd from differences.

    With `memory`, s² is what AR(1) noise of the series' own φ varies by, times (1 + φ) / (1 − φ): the white
    noise that would move a mean as much. Never below 1e-12 of the values' own power.
    """
    differences = np.abs(np.diff(values, axis=1))
    variance = (MAD_TO_SD * np.median(differences, axis=1)) ** 2 / 2
    if memory:
        phi = noise_memory(values)
        variance = variance / (1 - phi) * inflation(phi)
    tied = variance == 0
    variance = np.where(tied, np.square(np.diff(values, axis=1)).mean(axis=1) / 2, variance)
    floor = 1e-12 * np.square(values).mean(axis=1)
    return penalty * np.log(values.shape[1]) * np.maximum(variance, floor)
