"""When a noisy series passes a level, on the scale of ln step."""

import numpy as np
from numpy.typing import NDArray


def log_position(steps: NDArray) -> NDArray:
    """ln step, with step 0 at ln ½: as far before step 1 as step 2 is behind it."""
    return np.log(np.maximum(np.asarray(steps, dtype=np.float64), 0.5))


def step_at(position: float) -> float:
    """The step at a log position; ln ½ is step 0."""
    return 0.0 if position <= np.log(0.5) else float(np.exp(position))


def first_held(values: NDArray, level: NDArray | float, hold: int) -> NDArray:
    """Index of the first of `hold` consecutive points at or above level, or of all that are left; −1 if none.

    values [..., point], level [...]; returns [...].
    """
    above = np.asarray(values) >= np.asarray(level)[..., None]
    held = above.copy()
    for ahead in range(1, min(hold, above.shape[-1])):
        held[..., :-ahead] &= above[..., ahead:]
    return np.where(held.any(-1), held.argmax(-1), -1)


def crossing(positions: NDArray, values: NDArray, level: NDArray | float, hold: int) -> NDArray:
    """Position at which values [..., point] pass level [...] upwards and hold; NaN if they never do.

    Linear between the two points around it; where the first point already holds, its own position.
    """
    values = np.asarray(values, dtype=np.float64)
    index = first_held(values, level, hold)
    right = np.maximum(index, 1)
    high = np.take_along_axis(values, right[..., None], -1)[..., 0]
    low = np.take_along_axis(values, right[..., None] - 1, -1)[..., 0]
    share = np.divide(level - low, high - low, out=np.ones_like(high), where=high > low)
    between = positions[right - 1] + share * (positions[right] - positions[right - 1])
    return np.where(index < 0, np.nan, np.where(index == 0, positions[0], between))
