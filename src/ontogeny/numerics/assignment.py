"""Which column goes with which row, so that the gains of all pairs together are largest."""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment


def assignment(gains: NDArray[np.float64]) -> NDArray[np.int64]:
    """The column of each row, every column once, with the largest total of gains [row column]; exact.

    Known: a permutation matrix -> the permutation. Raises ValueError on NaN.
    """
    return linear_sum_assignment(gains, maximize=True)[1].astype(np.int64)


def total_gain(gains: NDArray[np.float64], order: NDArray[np.int64]) -> float:
    """What an order of columns gains."""
    return float(gains[np.arange(len(order)), order].sum())
