"""Penalised splines through many noisy courses at once."""

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BSpline

Floats = NDArray[np.float64]

BASIS, DEGREE = 25, 3
#: Weights of the penalty on second differences that are tried.
PENALTIES = np.logspace(-3, 3, 13)


def smoothed(x: Floats, y: Floats, at: Floats) -> Floats:
    """Every row of y [curve x] as a smooth curve, read at other points between x[0] and x[-1] [curve point].

    25 cubic B-splines on equal knots, with λ times the sum of squared second differences of their
    coefficients; λ from 1e-3 … 1e3 by generalised cross-validation, for each curve its own. x ascending, at
    least 4 of them. NaN for curves that hold one. Known: a straight line is kept as it is. Misleads: a jump
    between two points is spread over both.
    """
    inside, wanted = _basis(x, x), _basis(at, x)
    bend = np.diff(np.eye(BASIS), 2, axis=0)
    gram, penalty = inside.T @ inside, bend.T @ bend
    found, best = np.full((len(y), len(at)), np.nan), np.full(len(y), np.inf)
    for weight in PENALTIES:
        solve = np.linalg.solve(gram + weight * penalty, inside.T)
        free = len(x) - np.trace(inside @ solve)
        coefficients = y @ solve.T
        score = np.square(y - coefficients @ inside.T).sum(1) / max(free, 1e-9) ** 2
        better = score < best
        best[better] = score[better]
        found[better] = coefficients[better] @ wanted.T
    return found


def _basis(points: Floats, x: Floats) -> Floats:
    width = (x[-1] - x[0]) / (BASIS - DEGREE)
    knots = x[0] + width * np.arange(-DEGREE, BASIS + 1)
    inside = points.clip(x[0], x[-1])
    return BSpline.design_matrix(inside, knots, DEGREE, extrapolate=True).toarray()


def first_crossing(at: Floats, curves: Floats, level: Floats) -> Floats:
    """Where each curve [curve point] first is at or below its level; NaN where it never is."""
    below = curves <= level[:, None]
    return np.where(below.any(1), at[below.argmax(1)], np.nan)
