"""The smooth trend of a series: the simplest of the ways in which quantities drift during training."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy.ndimage
from numpy.typing import NDArray

from ontogeny.statistics.autoregression import MAD_TO_SD
from ontogeny.statistics.crossing import log_position

#: Time constants and exponents of decays that are tried.
TIME_CONSTANTS = 32
EXPONENTS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.65, 0.8, 1.0, 1.25, 1.5, 2.0)
#: Points a running median looks at, and sds of what it leaves over beyond which a point is an outlier.
MEDIAN_OF, OUTLIER = 5, 4.0


@dataclass(frozen=True)
class Trends:
    """Families of smooth curves over given steps: an orthonormal basis [point, term] each, simplest first.

    `parameters` counts what a family has to fit: its terms, and one more where a time constant or an
    exponent was chosen from a grid.
    """

    bases: tuple[NDArray, ...]
    parameters: tuple[int, ...]

    def fit(self, values: NDArray) -> NDArray:
        """The best smooth curve [..., point] of values [..., point].

        Least squares within a family; between them the smallest n ln(mean square) + ln n · parameters.
        Known: a decay a + b exp(−step / τ) -> itself, within the grid of τ; white noise -> nearly always its
        mean or a straight line.
        Misleads: a step between two levels is followed a little, by a cubic.
        """
        values = np.asarray(values, dtype=np.float64)
        flat = values.reshape(-1, values.shape[-1])
        centred = flat - flat.mean(axis=1, keepdims=True)
        whole, points = np.square(centred).sum(axis=1), flat.shape[1]
        floor = 1e-14 * whole + np.finfo(np.float64).tiny
        fitted = np.zeros_like(centred)
        best = points * np.log(whole + floor) + np.log(points)
        for basis, parameters in zip(self.bases, self.parameters, strict=True):
            shares = centred @ basis
            left = np.maximum(whole - np.square(shares).sum(axis=1), 0.0)
            score = points * np.log(left + floor) + np.log(points) * parameters
            better = score < best
            best = np.where(better, score, best)
            fitted[better] = shares[better] @ basis.T
        return (fitted + flat.mean(axis=1, keepdims=True)).reshape(values.shape)


def trends_over(steps: NDArray) -> Trends:
    """The families over steps [point]: straight, square and cubic in ln step and in step, exponential decays
    and power laws, each up or down."""
    return _trends(np.ascontiguousarray(steps, dtype=np.float64).tobytes())


@lru_cache(maxsize=16)
def _trends(steps_as_bytes: bytes) -> Trends:
    steps = np.frombuffer(steps_as_bytes)
    span, first = steps[-1] - steps[0], np.diff(steps)[0]
    curves: list[tuple[list[NDArray], int]] = []
    scales = [_unit(log_position(steps)), _unit(steps)]
    curves += [
        ([scale**power for power in range(1, degree + 1)], 0) for degree in (1, 2, 3) for scale in scales
    ]
    constants = np.geomspace(min(first, span / 8) / 2, span, TIME_CONSTANTS)
    curves += [([np.exp(-(steps - steps[0]) / constant)], 1) for constant in constants]
    curves += [([((steps - steps[0]) / first + 1) ** -power], 1) for power in EXPONENTS]
    curves += [([(np.maximum(steps, 0.5)) ** -power], 1) for power in EXPONENTS]
    bases, parameters = [], []
    for terms, chosen in curves:
        matrix = np.stack(terms, axis=1)
        matrix = matrix - matrix.mean(axis=0)
        left, sizes, _ = np.linalg.svd(matrix, full_matrices=False)
        kept = sizes > 1e-9 * sizes[0]
        bases.append(np.ascontiguousarray(left[:, kept]))
        parameters.append(1 + int(kept.sum()) + chosen)
    return Trends(tuple(bases), tuple(parameters))


def without_outliers(values: NDArray) -> NDArray:
    """Values [..., point] with lone spikes pulled in to 4 robust sds from the running median of 5 points.

    A level held for three points is no spike.
    """
    values = np.asarray(values, dtype=np.float64)
    size = (*([1] * (values.ndim - 1)), MEDIAN_OF)
    smooth = scipy.ndimage.median_filter(values, size=size, mode="nearest")
    off = values - smooth
    spread = MAD_TO_SD * np.median(np.abs(off), axis=-1, keepdims=True)
    limit = np.where(spread > 0, OUTLIER * spread, np.inf)
    return smooth + np.clip(off, -limit, limit)


def _unit(values: NDArray) -> NDArray:
    low, high = values[0], values[-1]
    return 2 * (values - low) / (high - low) - 1
