"""How much of a loss was lost, and since when nothing is (TEL-05)."""

import numpy as np
from numpy.typing import NDArray

from ontogeny.statistics.recorded import Recorded


def improvements(loss: Recorded, window: int) -> NDArray[np.float64]:
    """(L_{t−w} − L_t) / L_{t−w} at every step; NaN for t < w, and where a loss is not above 0."""
    before = loss.earlier(window)
    fine = (before > 0) & (loss.values > 0)
    return np.where(fine, (before - loss.values) / np.where(fine, before, 1.0), np.nan)


def stagnation(loss: Recorded, least: float) -> NDArray[np.int64]:
    """Steps since the loss last beat its best by more than `least`, at every step.

    The best is the loss at which it last did so: a decline too slow to be seen in one step adds up.
    """
    best, since = np.inf, 0
    found = np.zeros(len(loss.steps), np.int64)
    for index, (step, value) in enumerate(zip(loss.steps, loss.values, strict=True)):
        if value < best - least:
            best, since = value, step
        found[index] = step - since
    return found
