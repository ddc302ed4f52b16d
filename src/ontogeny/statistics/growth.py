"""Whether a distance grows as a logarithm or as a power of the step (TRA-01)."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.optimize import brentq, minimize_scalar

from ontogeny.statistics.noise import RELATIVE_FLOOR
from ontogeny.vocabulary import Reading, Status, undefined

#: Fewest points for AICc with three parameters (two of the curve, one of the noise), and one to spare.
FEWEST_POINTS = 5
PARAMETERS = 3
#: Powers that are tried; none beyond is reported.
LOWEST, HIGHEST, GRID = -2.0, 4.0, 601
#: A difference in AICc below this decides nothing.
DECISIVE = 2.0


@dataclass(frozen=True)
class Growth:
    """Two laws fitted to one series: offset + rate · ln t, and scale · t^power.

    `power` carries its interval; AICc is smaller for the better law; `better` is "log", "power" or
    "undecided".
    """

    offset: float
    rate: float
    scale: float
    power: Reading
    aicc_log: float
    aicc_power: float
    better: str


def growth_law(steps: NDArray, distances: NDArray, level: float = 0.95) -> Growth | Reading:
    """Fit distances [point] at steps [point] by a + b ln t and by a t^p, both by least squares.

    Step 0 is left out. The interval of p holds every p whose squared error an F test cannot tell from the
    least. Give it one stretch of constant learning rate after the warm-up: a change of schedule starts a new
    law. Status: `too-short` below 5 points, `nonfinite`, `constant-input` where all distances are equal.
    Known: a random walk -> p = 0.5; an exact a + b ln t -> a and b.
    Misleads: distances along one run are not independent, so the interval is too narrow; over less than a
    decade of steps the two laws look alike.
    """
    steps, distances = (np.asarray(side, dtype=np.float64) for side in (steps, distances))
    t, d = steps[steps > 0], distances[steps > 0]
    if d.size < FEWEST_POINTS:
        return undefined(Status.TOO_SHORT, f"{d.size} points; {FEWEST_POINTS} are needed", n=d.size)
    if not np.isfinite(d).all():
        return undefined(
            Status.NONFINITE, f"{np.count_nonzero(~np.isfinite(d))} of {d.size} points", n=d.size
        )
    if np.ptp(d) == 0 or np.ptp(t) == 0:
        return undefined(Status.CONSTANT_INPUT, "all distances or all steps are equal", n=d.size)
    rate, offset = np.polyfit(np.log(t), d, 1)
    floor = d.size * (RELATIVE_FLOOR * np.abs(d).max()) ** 2
    error_log = max(float(np.square(d - offset - rate * np.log(t)).sum()), floor)
    power, scale, error_power = _power(t, d, level, floor)
    aicc_log, aicc_power = (_aicc(error, d.size) for error in (error_log, error_power))
    better = "log" if aicc_log < aicc_power else "power"
    if abs(aicc_log - aicc_power) < DECISIVE:
        better = "undecided"
    return Growth(float(offset), float(rate), scale, power, aicc_log, aicc_power, better)


def _power(t: NDArray, d: NDArray, level: float, floor: float) -> tuple[Reading, float, float]:
    """The best power with its interval, its scale and its squared error."""
    x = t / np.exp(np.log(t).mean())  # keeps t^p within range; the scale is put back below

    def error(p: float) -> float:
        curve = x**p
        return float(np.square(d - (d @ curve) / (curve @ curve) * curve).sum())

    grid = np.linspace(LOWEST, HIGHEST, GRID)
    near = float(grid[np.argmin([error(p) for p in grid])])
    step = grid[1] - grid[0]
    bounds = (max(near - step, LOWEST), min(near + step, HIGHEST))
    found: Any = minimize_scalar(error, bounds=bounds, method="bounded", options={"xatol": 1e-9})
    p = float(found.x)
    if not LOWEST + step < p < HIGHEST - step:
        return (
            undefined(Status.UNCONVERGED, f"no power from {LOWEST:g} to {HIGHEST:g} fits best"),
            np.nan,
            floor,
        )
    least = max(error(p), floor)
    limit = least * (1 + stats.f.ppf(level, 1, d.size - 2) / (d.size - 2))
    low, high = (_edge(lambda q: error(q) - limit, p, end) for end in (LOWEST, HIGHEST))
    scale = float((d @ x**p) / (x**p @ x**p) / math.exp(np.log(t).mean() * p))
    return Reading(p, n=d.size, low=low, high=high), scale, least


def _edge(excess, inside: float, end: float) -> float | None:
    """Where a curve that is negative inside crosses 0 on the way to `end`; None if it does not."""
    return brentq(excess, inside, end) if excess(end) > 0 else None  # pyright: ignore[reportReturnType]


def _aicc(squared_error: float, n: int) -> float:
    return n * math.log(squared_error / n) + 2 * PARAMETERS * n / (n - PARAMETERS - 1)
