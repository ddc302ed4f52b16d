"""How far the points after a place lie from the points before it, the smooth trend taken out."""

import numpy as np
from numpy.typing import NDArray

from ontogeny.statistics.partition import segment_ends
from ontogeny.statistics.trend import trends_over, without_outliers

#: Points a side that a contrast looks at, at most.
REACH = 8
#: Highest power of the polynomials that are taken out.
DEGREE = 2
#: Fewest points on either side.
FEWEST = 3


def detrended(steps: NDArray, values: NDArray) -> NDArray:
    """Values [series, point] without lone spikes and without their smooth trend.

    Cubics are left out, because they follow a step half-way.
    """
    clean = without_outliers(values)
    return clean - trends_over(steps, degree=DEGREE).fit(clean)


def contrasts(values: NDArray, changes: NDArray, reach: int = REACH) -> NDArray:
    """At every change, the mean after it less the mean before, over its standard error's √(1/a + 1/b).

    values, changes [series, point]; a and b are the points to the neighbouring changes, at most `reach`.
    0 where there is no change. In units of the values: white noise of sd s gives a normal of sd s.
    """
    left, right = segment_ends(changes)
    points = values.shape[1]
    place = np.arange(points)[None]
    low, high = np.maximum(left, place - reach), np.minimum(right, place + reach)
    sums = np.concatenate([np.zeros((values.shape[0], 1)), np.cumsum(values, axis=1)], axis=1)
    at, first, final = (np.take_along_axis(sums, index, axis=1) for index in (place + 0 * low, low, high))
    before, after = place - low, high - place
    means = (final - at) / np.maximum(after, 1) - (at - first) / np.maximum(before, 1)
    weight = np.sqrt(before * after / np.maximum(before + after, 1))
    return np.where(changes, means * weight, 0.0)


def steepness(values: NDArray, before: int, after: int) -> NDArray:
    """At every point, the mean from it on less the mean before it, over √(1/a + 1/b) [series, point].

    Of values [series, point]; a and b are `after` and `before`, or what there is; 0 with fewer than 3.
    """
    series, points = values.shape
    place = np.arange(points)
    sums = np.concatenate([np.zeros((series, 1)), np.cumsum(values, axis=1)], axis=1)
    low, high = np.maximum(place - before, 0), np.minimum(place + after, points)
    fine = (place - low >= min(before, FEWEST)) & (high - place >= min(after, FEWEST))
    earlier = (sums[:, place] - sums[:, low]) / np.maximum(place - low, 1)
    later = (sums[:, high] - sums[:, place]) / (high - place)
    return np.where(
        fine, (later - earlier) / np.sqrt(1 / (high - place) + 1 / np.maximum(place - low, 1)), 0.0
    )
