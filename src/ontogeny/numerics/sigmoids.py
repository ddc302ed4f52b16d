"""Logistic curves through many noisy courses at once."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MIDDLES, SCALES, BANDS = 49, 13, 3
ROUNDS = 40
#: Curves fitted at once.
PIECE = 2048


class Sigmoids(NamedTuple):
    """y = start + (end − start) / (1 + exp((middle − x) / scale)), one entry a curve; scale > 0.

    `fit` is R². All are NaN for curves that hold a NaN; R² is for one that never varies.
    """

    start: Floats
    end: Floats
    middle: Floats
    scale: Floats
    fit: Floats

    def at(self, x: Floats) -> Floats:
        """Every curve at every x [curve x]."""
        rise = _logistic((x - self.middle[:, None]) / self.scale[:, None])
        return self.start[:, None] + (self.end - self.start)[:, None] * rise

    def crossing(self, level: Floats) -> Floats:
        """Where each curve has a value; NaN where it never does."""
        with np.errstate(invalid="ignore", divide="ignore"):
            share = (level - self.start) / (self.end - self.start)
            return self.middle - self.scale * np.log(1 / share - 1)


def fitted_sigmoids(x: Floats, y: Floats) -> Sigmoids:
    """Least squares for every row of y [curve x], x ascending and at least 5 of them.

    The best of a grid of middles and scales, in each of three bands of scales, then Levenberg–Marquardt.
    Middles stay within half a range of the data, scales between a quarter of the median gap and the whole
    range. Known: a noise-free sigmoid is recovered to 1e-3. Misleads: a curve that is straight, or has no
    end in sight, has a middle and two ends that are anybody's guess; only where it passes through the data
    means something.
    """
    parts = [_fitted(x, y[first : first + PIECE]) for first in range(0, max(len(y), 1), PIECE)]
    return Sigmoids(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _logistic(z: Floats) -> Floats:
    return 1 / (1 + np.exp(-np.clip(z, -500, 500)))


def _bounds(x: Floats) -> tuple[Floats, Floats]:
    """Least and largest middle and logarithm of the scale."""
    span, gap = x[-1] - x[0], float(np.median(np.diff(x)))
    return np.array([x[0] - span / 2, np.log(gap / 4)]), np.array([x[-1] + span / 2, np.log(span)])


def _fitted(x: Floats, y: Floats) -> Sigmoids:
    whole = np.isfinite(y).all(1)
    usable = y[whole]
    shape, ends, left = _best_refined(x, usable)
    spread = np.square(usable - usable.mean(1, keepdims=True)).sum(1)
    fit = np.full(len(usable), np.nan)
    np.divide(left, spread, out=fit, where=spread > 1e-18 * np.square(usable).sum(1))
    found = np.full((5, len(y)), np.nan)
    found[:, whole] = [ends[:, 0], ends[:, 1], shape[:, 0], np.exp(shape[:, 1]), 1 - fit]
    return Sigmoids(*found)


def _best_refined(x: Floats, y: Floats) -> tuple[Floats, Floats, Floats]:
    """Shapes [curve 2], ends [curve 2] and squares left [curve], the best of a start in each band of scales.

    A step between two points of x is a local optimum of its own: a start among the steep ones stays there.
    """
    low, high = _bounds(x)
    scales = np.linspace(low[1], high[1], SCALES)
    found = []
    for band in np.array_split(scales, BANDS):
        shape = _refined(x, y, _best_of_grid(x, y, band))
        found.append((shape, *_ends(x, y, shape)))
    best = np.stack([left for *_, left in found]).argmin(0)
    shapes, ends, left = (np.stack(one)[best, np.arange(len(y))] for one in zip(*found, strict=True))
    return shapes, ends, left


def _best_of_grid(x: Floats, y: Floats, scales: Floats) -> Floats:
    """Middle and log scale [curve 2] with which a line through the logistic leaves least."""
    low, high = _bounds(x)
    middles = np.linspace(low[0], high[0], MIDDLES)
    grid = np.stack(np.meshgrid(middles, scales, indexing="ij"), -1).reshape(-1, 2)
    rises = _logistic((x - grid[:, :1]) / np.exp(grid[:, 1:]))
    rises -= rises.mean(1, keepdims=True)
    size = np.sqrt(np.square(rises).sum(1))
    rises = rises[size > 1e-6] / size[size > 1e-6, None]
    explained = np.abs((y - y.mean(1, keepdims=True)) @ rises.T)
    return grid[size > 1e-6][explained.argmax(1)] if len(y) else np.zeros((0, 2))


def _ends(x: Floats, y: Floats, shape: Floats) -> tuple[Floats, Floats]:
    """Best start and end for given middles and scales [curve 2], and the squares they leave [curve]."""
    rise = _logistic((x - shape[:, :1]) / np.exp(shape[:, 1:]))
    centred = rise - rise.mean(1, keepdims=True)
    power = np.maximum(_dots(centred, centred), 1e-30)
    slope = _dots(centred, y) / power
    start = y.mean(1) - slope * rise.mean(1)
    left = np.square(y - start[:, None] - slope[:, None] * rise).sum(1)
    return np.stack([start, start + slope], 1), left


def _refined(x: Floats, y: Floats, shape: Floats) -> Floats:
    """Levenberg–Marquardt on middle and log scale; the ends follow by linear least squares."""
    low, high = _bounds(x)
    damping = np.full(len(y), 1e-2)
    ends, left = _ends(x, y, shape)
    for _ in range(ROUNDS):
        by_middle, by_scale, residual = _slopes(x, y, shape, ends)
        tried = np.clip(shape + _damped(by_middle, by_scale, residual, damping), low, high)
        ends_there, then = _ends(x, y, tried)
        better = then < left
        shape = np.where(better[:, None], tried, shape)
        ends = np.where(better[:, None], ends_there, ends)
        left = np.where(better, then, left)
        damping = np.where(better, damping / 5, damping * 4).clip(1e-12, 1e8)
    return shape


def _damped(by_middle: Floats, by_scale: Floats, residual: Floats, damping: Floats) -> Floats:
    """The step [curve 2] that solves (JᵀJ + damping · diagonal) step = Jᵀ residual, two by two."""
    middle, both, scale = _dots(by_middle, by_middle), _dots(by_middle, by_scale), _dots(by_scale, by_scale)
    floor = 1e-12 * (1 + np.maximum(middle, scale))
    middle, scale = (1 + damping) * middle + floor, (1 + damping) * scale + floor
    toward = _dots(by_middle, residual), _dots(by_scale, residual)
    determinant = middle * scale - both * both
    solved = scale * toward[0] - both * toward[1], middle * toward[1] - both * toward[0]
    return np.stack(solved, 1) / determinant[:, None]


def _dots(one: Floats, other: Floats) -> Floats:
    """Row by row [curve]."""
    return np.einsum("cx,cx->c", one, other)


def _slopes(x: Floats, y: Floats, shape: Floats, ends: Floats) -> tuple[Floats, Floats, Floats]:
    """How the fitted values move with middle and with log scale, beside what the ends can follow, and
    residuals; all [curve x]."""
    scale = np.exp(shape[:, 1:])
    z = (x - shape[:, :1]) / scale
    rise = _logistic(z)
    height = (ends[:, 1] - ends[:, 0])[:, None]
    steep = -height * rise * (1 - rise)
    centred = rise - rise.mean(1, keepdims=True)
    power = np.maximum(_dots(centred, centred), 1e-30)
    moved = []
    for slope in (steep / scale, steep * z):
        slope = slope - slope.mean(1, keepdims=True)
        moved.append(slope - centred * (_dots(centred, slope) / power)[:, None])
    return moved[0], moved[1], y - ends[:, :1] - height * rise
