"""When a level was left for another, and how well that is known."""

import numpy as np
from numpy.typing import NDArray

from ontogeny.statistics.crossing import log_position, step_at
from ontogeny.statistics.posterior import shape_weights

#: Points on either side of a change that its time is judged by, at most.
REACH = 25


def change_gaps(values: NDArray, phi: float) -> NDArray:
    """P(the change lies in the gap before point s) [point] of values [point] that change once.

    Normal AR(1) noise of memory φ and unknown size around two unknown levels, no gap favoured: each gap's
    weight is RSS^(−(n − 2)/2) / √|X'X| of the regression on the two levels, both freed of the memory.
    0 at the first point: there is no gap before it.
    Known: two levels without noise -> 1 at their gap.
    """
    later = np.tril(np.ones((values.size, values.size)))[:, 1:].T
    weights, _ = shape_weights(later, np.ones((1, values.size)), values, phi)
    return np.concatenate([[0.0], weights])


def time_interval(steps: NDArray, gaps: NDArray, level: float) -> tuple[float, float]:
    """The central `level` of the change's time, from P(gap before point) [point] over steps [point].

    Within a gap any ln step is as likely as another: where one gap has all the weight, the interval is the
    middle of that gap and so narrower than the gap itself.
    """
    reached = np.cumsum(gaps)
    kept = np.r_[True, np.diff(reached) > 0]
    wanted = [(1 - level) / 2, (1 + level) / 2]
    # Quantiles go by where the weight lies: a gap of no weight must not stretch the interval.
    positions, low, high = log_position(steps), np.r_[0.0, reached[:-1]], reached
    rows = np.flatnonzero(kept[1:]) + 1
    found = []
    for share in wanted:
        row = rows[min(np.searchsorted(high[rows], share), rows.size - 1)]
        within = (share - low[row]) / (high[row] - low[row])
        found.append(step_at(positions[row - 1] + within * (positions[row] - positions[row - 1])))
    return found[0], found[1]


def located_change(
    steps: NDArray, values: NDArray, at: int, between: tuple[int, int], phi: float, level: float
) -> tuple[float, float, float]:
    """Step, low and high of a change before point `at`, the only one in values[between[0] : between[1]].

    The step is the middle of its gap in ln step.
    """
    low, high = max(between[0], at - REACH), min(between[1], at + REACH)
    around = slice(low, high)
    gaps = change_gaps(values[around], phi)
    first, last = time_interval(steps[around], gaps, level)
    step = step_at(float(log_position(steps[at - 1 : at + 1]).mean()))
    return step, min(first, step), max(last, step)
