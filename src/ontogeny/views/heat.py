"""What every heat map here shares: a colour scale fixed over the whole run, and what an empty cell means."""

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Colours = Literal["sequential", "diverging"]


def colour_range(values: NDArray[np.float64]) -> tuple[float, float, Colours]:
    """The scale over all finite values; centred at zero where they have both signs.

    A little below zero is noise of something non-negative, so the smaller side must reach 5 % of the larger.
    """
    finite = values[np.isfinite(values)]
    low, high = float(finite.min()), float(finite.max())
    if low < 0 < high and min(-low, high) > 0.05 * max(-low, high):
        reach = max(-low, high)
        return -reach, reach, "diverging"
    if low >= 0 and 0.6 <= high <= 1:
        return 0.0, 1.0, "sequential"
    if low == high:
        return low - 0.5, high + 0.5, "sequential"
    return (0.0 if 0 <= low < 0.5 * high else low), high, "sequential"


def colour_spacing(values: NDArray[np.float64]) -> Literal["linear", "log"]:
    """Logarithmic where positive values span more than two decades."""
    finite = values[np.isfinite(values)]
    return "log" if finite.size and finite.min() > 0 and finite.max() > 100 * finite.min() else "linear"


def cell(value: float, status: str) -> float | None:
    """A heat map's cell: the number; NaN where it is not finite; None where it is undefined or missing."""
    if math.isfinite(value):
        return float(value)
    return math.nan if status in ("nonfinite", "ok") or math.isinf(value) else None
