"""The smooth trend of a series: the simplest of the ways in which quantities drift during training."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy.ndimage
import scipy.special
from numpy.typing import NDArray

from ontogeny.statistics.autoregression import MAD_TO_SD, cautious_memory, inflation
from ontogeny.statistics.crossing import log_position

#: Time constants of exponential decays, and exponents of power laws, that are tried.
TIME_CONSTANTS, EXPONENTS = 96, np.geomspace(0.1, 2.5, 32)
#: What a decay has to fit: level, size, and its time constant or exponent.
OF_A_DECAY = 3
#: What a change has to fit: its size and its place, the place counted twice because it is searched for.
OF_A_CHANGE, SIDE = 3, 3
#: Highest power of the polynomials beside changes, and how many changes there may be.
HIGHEST_BESIDE_CHANGES, MOST_CHANGES = 2, 6
#: Most places where a change is looked for: in a longer series only every so many gaps.
MOST_HALVES = 500
#: Widths, in ln step from 10 to 90 %, of what is a change and no trend.
ABRUPT = (1e-4, 0.1, 0.2, 0.4)
#: Points a running median looks at, and sds of what it leaves over beyond which a point is an outlier.
MEDIAN_OF, OUTLIER = 5, 4.0


@dataclass(frozen=True)
class Trends:
    """Families of smooth curves over given steps, all centred: `polynomials`, an orthonormal basis
    [point, term] each, and `decays` [point, curve], each of length 1."""

    polynomials: tuple[NDArray, ...]
    decays: NDArray

    def fit(self, values: NDArray) -> NDArray:
        """The best smooth curve [..., point] of values [..., point].

        Least squares within a family; between them the smallest n ln(mean square) + ln n · parameters.
        Known: a decay a + b exp(−step / τ) -> itself, within the grid of τ; white noise -> nearly always its
        mean or a straight line.
        Misleads: a step between two levels is followed half-way, by a cubic.
        """
        values = np.asarray(values, dtype=np.float64)
        return self.scored(values.reshape(-1, values.shape[-1]))[0].reshape(values.shape)

    def scored(self, flat: NDArray) -> tuple[NDArray, NDArray]:
        """The best curves [series, point] of values [series, point], and their scores [series]."""
        mean = flat.mean(axis=1, keepdims=True)
        centred, price = flat - mean, np.log(flat.shape[1])
        whole, points = np.square(centred).sum(axis=1), flat.shape[1]
        floor = 1e-14 * whole + np.finfo(np.float64).tiny
        best, fitted = points * np.log(whole + floor) + price, np.zeros_like(centred)
        for basis in self.polynomials:
            shares = centred @ basis
            left = np.maximum(whole - np.square(shares).sum(axis=1), 0.0)
            score = points * np.log(left + floor) + price * (1 + basis.shape[1])
            better = score < best
            best = np.where(better, score, best)
            fitted[better] = shares[better] @ basis.T
        shares = centred @ self.decays
        curve = np.abs(shares).argmax(axis=1)
        share = shares[np.arange(len(flat)), curve]
        left = np.maximum(whole - share**2, 0.0)
        score = points * np.log(left + floor) + price * OF_A_DECAY
        better = score < best
        fitted[better] = share[better, None] * self.decays.T[curve[better]]
        return fitted + mean, np.minimum(best, score)


def trend_and_changes(steps: NDArray, values: NDArray) -> tuple[NDArray, NDArray]:
    """The smooth trend [point] of values [point] that may hold abrupt changes, and those changes [point].

    The best of `Trends.fit` and no change; or a level, a line or a parabola with up to six logistic rises or
    falls within a factor of 1.5 in steps (jumps at the least), each added where it helps most while it
    describes the values better at the price of three parameters more (times (1 + φ) / (1 − φ), φ the
    memory of what the first leaves over, for what remembers wanders).
    Known: a step of 8 sds in white noise -> a level and the step; a smooth trend -> itself and 0.
    """
    trends, shapes = trends_over(steps), _changes(np.ascontiguousarray(steps, dtype=np.float64).tobytes())
    smooth, scores = trends.scored(values[None])
    best, trend, changes = float(scores[0]), smooth[0], np.zeros(values.size)
    level = np.full((values.size, 1), values.size**-0.5)
    for basis in (level[:, :0], *trends.polynomials):
        if basis.shape[1] <= HIGHEST_BESIDE_CHANGES:
            found = _with_changes(np.hstack([level, basis]), shapes, values)
            if found[0] < best:
                best, trend, changes = found
    return trend, changes


def _with_changes(smooth: NDArray, shapes: NDArray, values: NDArray) -> tuple[float, NDArray, NDArray]:
    """Score, trend and changes [point] of an orthonormal basis [point, term] and what is added to it."""
    points, price, whole, best = values.size, np.log(values.size), smooth, np.inf
    taken, of_a_change = [], 0.0
    rest, free = values - whole @ (whole.T @ values), shapes - (shapes @ whole) @ whole.T
    while len(taken) < MOST_CHANGES:
        power = np.square(free).sum(axis=1)
        gain = np.divide((free @ rest) ** 2, power, out=np.zeros_like(power), where=power > 1e-6)
        cut = int(gain.argmax())
        if gain[cut] == 0:
            break
        left = max(rest @ rest - gain[cut], 0.0) + np.finfo(np.float64).tiny
        unit = free[cut] / np.sqrt(power[cut])
        without = rest - unit * (unit @ rest)
        if not taken:
            of_a_change = OF_A_CHANGE * float(inflation(cautious_memory(without)))
        score = points * np.log(left) + price * (smooth.shape[1] + of_a_change * (len(taken) + 1))
        if not score < best:
            break
        best = score
        taken.append(cut)
        rest, free = without, free - np.outer(free @ unit, unit)
    design = np.hstack([smooth, shapes[taken].T])
    sizes = np.linalg.lstsq(design, values, rcond=None)[0]
    changes = shapes[taken].T @ sizes[smooth.shape[1] :]
    return best, smooth @ (smooth.T @ (values - changes)), changes


@lru_cache(maxsize=16)
def _changes(steps_as_bytes: bytes) -> NDArray:
    """Abrupt rises from 0 to 1 [curve, point], at least 3 points on either side of their half."""
    positions = log_position(np.frombuffer(steps_as_bytes))
    middles = (positions[SIDE - 1 : -SIDE] + positions[SIDE : positions.size - SIDE + 1]) / 2
    if middles.size > MOST_HALVES:
        middles = middles[np.linspace(0, middles.size - 1, MOST_HALVES).astype(np.int64)]
    off = (positions - middles[:, None]) * np.log(81)
    return scipy.special.expit(off / np.array(ABRUPT)[:, None, None]).reshape(-1, positions.size)


def trends_over(steps: NDArray, degree: int = 5) -> Trends:
    """The families over steps [point]: polynomials in ln step and in step up to `degree`, exponential decays
    and power laws, each up or down."""
    return _trends(np.ascontiguousarray(steps, dtype=np.float64).tobytes(), degree)


@lru_cache(maxsize=16)
def _trends(steps_as_bytes: bytes, highest: int) -> Trends:
    steps = np.frombuffer(steps_as_bytes)
    passed, first = steps - steps[0], steps[1] - steps[0]
    polynomials = []
    for scale in (_unit(log_position(steps)), _unit(steps)):
        for degree in range(1, highest + 1):
            terms = np.stack([scale**power for power in range(1, degree + 1)], axis=1)
            polynomials.append(np.linalg.qr(terms - terms.mean(axis=0))[0])
    constants = np.geomspace(min(first, passed[-1] / 8) / 2, passed[-1], TIME_CONSTANTS)
    decays = np.concatenate(
        [
            np.exp(-passed / constants[:, None]),
            (passed / first + 1) ** -EXPONENTS[:, None],
            np.maximum(steps, 0.5) ** -EXPONENTS[:, None],
        ]
    )
    decays = decays - decays.mean(axis=1, keepdims=True)
    decays /= np.linalg.norm(decays, axis=1, keepdims=True)
    return Trends(tuple(polynomials), np.ascontiguousarray(decays.T))


def without_outliers(values: NDArray) -> NDArray:
    """Values [..., point] with lone spikes pulled in to 4 robust sds from the running median of 5 points.

    A level held for three points is no spike; where more than half of the values are their running median,
    whatever is not is one.
    """
    values = np.asarray(values, dtype=np.float64)
    size = (*([1] * (values.ndim - 1)), MEDIAN_OF)
    smooth = scipy.ndimage.median_filter(values, size=size, mode="nearest")
    off = values - smooth
    spread = MAD_TO_SD * np.median(np.abs(off), axis=-1, keepdims=True)
    return smooth + np.clip(off, -OUTLIER * spread, OUTLIER * spread)


def _unit(values: NDArray) -> NDArray:
    low, high = values[0], values[-1]
    return 2 * (values - low) / (high - low) - 1
