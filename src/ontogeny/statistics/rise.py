"""How wide a rise between two known levels is, whether it is symmetric or has one steep side."""

from dataclasses import dataclass

import numpy as np
import scipy.special
from numpy.typing import NDArray

from ontogeny.statistics.noise import RELATIVE_FLOOR, spread

#: Grid of centres over the positions, and of widths from a tenth (in ln step) to the whole span.
CENTRES, WIDTHS, NARROWEST = 90, 40, 0.1
#: Noise beyond this many sds counts as this many.
CLIP = 3.0

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


def fit_rise(positions: NDArray, shares: NDArray, noise: float, width_limit: float) -> Rise:
    """Fit a rise to shares [point] of it that are done (0 before, 1 after) at positions [point] = ln step.

    Least squares over a grid of centres and widths, with everything beyond 3 `noise` of the two levels
    clipped, of three shapes: logistic, exponential saturation in step, and its mirror image. The slower
    rises a narrow one has to beat are those three beyond `width_limit`, and a ramp linear in step.
    Known: a logistic's own width within 5 %; 1 − exp(−step / τ) -> 3.08.
    Misleads: a width below the gap between two points only says that the rise lies within the gap.
    """
    clip = min(1.0, max(CLIP * noise, 0.1))
    shares = np.clip(shares, -clip, 1 + clip)
    centres = np.linspace(positions[0], positions[-1], CENTRES)
    widths = np.geomspace(NARROWEST, max(positions[-1] - positions[0], 2 * width_limit), WIDTHS)
    at = (positions - centres[:, None, None]) / widths[:, None]
    best, narrow, slow = (np.inf, 0.0, 0.0, shares), np.inf, _ramp_cost(positions, shares)
    for shape, tenth, nine_tenths in SHAPES:
        curves = shape(at)
        cost = np.square(curves).sum(-1) - 2 * curves @ shares + shares @ shares
        i, j = np.unravel_index(cost.argmin(), cost.shape)
        if cost[i, j] < best[0]:
            best = (
                cost[i, j],
                centres[i] + tenth * widths[j],
                centres[i] + nine_tenths * widths[j],
                curves[i, j],
            )
        narrow = min(narrow, cost[:, widths <= width_limit].min(initial=np.inf))
        slow = min(slow, cost[:, widths > width_limit].min(initial=np.inf))
    left_over = max(spread(shares - best[3]), RELATIVE_FLOOR)
    return Rise(float(best[1]), float(best[2]), best[3], float((slow - narrow) / left_over**2))


def _ramp_cost(positions: NDArray, shares: NDArray) -> float:
    step = np.exp(positions) - np.exp(positions[0])
    return float(shares @ shares - max(step @ shares, 0.0) ** 2 / (step @ step))


def _saturation(z: NDArray) -> NDArray:
    return -np.expm1(-np.exp(np.minimum(_STEEP * z + _HALF, 50.0)))
