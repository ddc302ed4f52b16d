"""How wide a rise between two known levels is, whether it is symmetric or has one steep side."""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy.special
from numpy.typing import NDArray

from ontogeny.statistics.noise import RELATIVE_FLOOR, spread

#: Coarse grid: centres over the positions, widths (in ln step) from a hundredth to the whole span.
CENTRES, WIDTHS, NARROWEST = 60, 36, 0.01
#: Finer grids laid around the best of the one before, each this many points a side.
REFINEMENTS, REFINED = 2, 13
#: Coarse grids over more points are not kept in memory.
LONGEST_KEPT = 1000
#: A deviation beyond this many noise sds counts as this many, and as no less than this share of the rise.
CLIP, SMALLEST_CLIP = 5.0, 0.3

# Positions where 1 − exp(−exp(z)) is a tenth, a half and nine tenths.
_TENTH, _HALF, _NINE_TENTHS = (float(np.log(-np.log1p(-share))) for share in (0.1, 0.5, 0.9))
_STEEP = _NINE_TENTHS - _TENTH
#: (shape, position of 10 %, position of 90 %) in units of the width, with the half at 0.
SHAPES = (
    (lambda z: scipy.special.expit(np.log(81) * z), -0.5, 0.5),
    (lambda z: _saturation(z), (_TENTH - _HALF) / _STEEP, (_NINE_TENTHS - _HALF) / _STEEP),
    (lambda z: 1 - _saturation(-z), (_HALF - _NINE_TENTHS) / _STEEP, (_HALF - _TENTH) / _STEEP),
)


@dataclass(frozen=True)
class Rise:
    """The best-fitting rise from 0 to 1.

    `early` and `late` are the positions of 10 % and 90 %, `curve` [point] the fit; `margin` says by how much
    the best rise within the width limit fits better than the best slower one, in squared sds of what the fit
    leaves over.
    """

    early: float
    late: float
    curve: NDArray
    margin: float

    @property
    def width(self) -> float:
        return self.late - self.early


class _Candidate(NamedTuple):
    cost: float
    shape: int
    centre: float
    width: float


def fit_rise(positions: NDArray, shares: NDArray, noise: float, width_limit: float) -> Rise:
    """Fit a rise to shares [point] of it that are done (0 before, 1 after) at positions [point] = ln step.

    Least squares over centre and width, deviations beyond 5 `noise` (at least 0.3) clipped, of three shapes:
    logistic, exponential saturation in step, and its mirror image. The slower rises a narrow one has to beat
    are those three beyond `width_limit`, and a ramp linear in step.
    Known: a logistic -> its own width, within 2 %; 1 − exp(−step / τ) -> 3.08; a jump -> less than its gap.
    Misleads: a width below the gap between two points only says that the rise lies within the gap.
    """
    clip = min(1.0, max(CLIP * noise, SMALLEST_CLIP))
    sides = [(0.0, width_limit), (width_limit, np.inf)]
    narrow, slow = (_best(positions, shares, clip, width_limit, bounds) for bounds in sides)
    best = min(narrow, slow)
    shape, tenth, nine_tenths = SHAPES[best.shape]
    curve = shape((positions - best.centre) / best.width)
    left_over = max(spread(shares - curve), RELATIVE_FLOOR)
    margin = (min(slow.cost, _ramp_cost(positions, shares, clip)) - narrow.cost) / left_over**2
    early, late = best.centre + tenth * best.width, best.centre + nine_tenths * best.width
    return Rise(float(early), float(late), curve, float(margin))


def _best(
    positions: NDArray,
    shares: NDArray,
    clip: float,
    width_limit: float,
    bounds: tuple[float, float],
) -> _Candidate:
    """The best rise whose width lies within bounds, by a coarse grid and finer ones around its best point."""

    make = _coarse if positions.size <= LONGEST_KEPT else _coarse.__wrapped__
    grid = make(np.ascontiguousarray(positions, dtype=np.float64).tobytes(), width_limit, bounds)
    found = min(_nearest(grid.curves[shape], shares, clip, shape, grid) for shape in range(len(SHAPES)))
    reach, ratio = grid.reach, grid.ratio
    for _ in range(REFINEMENTS):
        near = found.centre + np.linspace(-reach, reach, REFINED)
        tried = np.unique(np.clip(found.width * np.geomspace(1 / ratio, ratio, REFINED), *bounds))
        finer = _Grid(near, tried, _curves(positions, near, tried, found.shape), reach, ratio)
        found = min(found, _nearest(finer.curves[0], shares, clip, found.shape, finer))
        reach, ratio = reach / (REFINED // 2), ratio ** (2 / REFINED)
    return found


class _Grid(NamedTuple):
    """Centres, widths, curves of each shape [centre, width, point], and how far apart the first two are."""

    centres: NDArray
    widths: NDArray
    curves: tuple[NDArray, ...]
    reach: float
    ratio: float


@lru_cache(maxsize=8)
def _coarse(positions_as_bytes: bytes, width_limit: float, bounds: tuple[float, float]) -> _Grid:
    """The coarse grid over given positions: the same for every series that was measured at the same steps."""
    positions = np.frombuffer(positions_as_bytes)
    centres = np.linspace(positions[0], positions[-1], CENTRES)
    widths = np.geomspace(NARROWEST, max(positions[-1] - positions[0], 2 * width_limit), WIDTHS)
    reach, ratio = float(centres[1] - centres[0]), float(widths[1] / widths[0])
    widths = np.unique(np.clip(widths, *bounds))
    curves = [_curves(positions, centres, widths, shape)[0] for shape in range(len(SHAPES))]
    return _Grid(centres, widths, tuple(curves), reach, ratio)


def _curves(positions: NDArray, centres: NDArray, widths: NDArray, shape: int) -> tuple[NDArray]:
    return (SHAPES[shape][0]((positions - centres[:, None, None]) / widths[:, None]),)


def _nearest(curves: NDArray, shares: NDArray, clip: float, shape: int, grid: _Grid) -> _Candidate:
    cost = _cost(curves, shares, clip)
    i, j = np.unravel_index(cost.argmin(), cost.shape)
    return _Candidate(float(cost[i, j]), shape, float(grid.centres[i]), float(grid.widths[j]))


def _cost(curves: NDArray, shares: NDArray, clip: float) -> NDArray:
    off = curves - shares
    np.clip(off, -clip, clip, out=off)
    return np.einsum("...i,...i->...", off, off)


def _ramp_cost(positions: NDArray, shares: NDArray, clip: float) -> float:
    step = np.exp(positions) - np.exp(positions[0])
    slope = max(step @ np.clip(shares, -clip, 1 + clip), 0.0) / (step @ step)
    return float(_cost((slope * step)[None], shares, clip)[0])


def _saturation(z: NDArray) -> NDArray:
    return -np.expm1(-np.exp(np.minimum(_STEEP * z + _HALF, 50.0)))
