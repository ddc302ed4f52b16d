"""double_sigmoid: two rises or falls, each logistic in ln step, where two are better than one."""

import math

import numpy as np
from numpy.typing import NDArray

from ontogeny.catalogue import detector
from ontogeny.statistics.autoregression import inflation, noise_memory
from ontogeny.statistics.examined import check_settings, examined, judged
from ontogeny.statistics.logistic import beyond_trend, described_rise
from ontogeny.statistics.sigmoids import Sigmoids, sigmoids_over
from ontogeny.statistics.trend import without_outliers
from ontogeny.vocabulary import Detected, Located

#: Times ln n by which n ln(mean square) must fall for a second rise: three parameters, one of them searched.
OF_A_RISE = 5.0


@detector(source="definition ours", finds=("rise", "fall"))
def double_sigmoid(
    steps: NDArray,
    values: NDArray,
    null: NDArray | None = None,
    *,
    width_limit: float = math.log(6),
    level: float = 0.95,
    alpha: float = 0.01,
    least: float = 0.0,
) -> Detected:
    """When a series passed the halves of two logistic rises or falls in ln step; one, if two are no better.

    The best curve of the bank of `sigmoid`, the best beside it, and the first once more beside the second.
    Two are better than one where n ln(RSS of one / RSS of two) is above 5 ln n · (1 + φ) / (1 − φ), φ the
    noise's memory. The strength is √(RSS of the smooth trend − RSS of the two), in the series and in every
    draw of the null; both rises have its p. Each is then described alone, with the other taken out, as
    `sigmoid` does.

    Errors: BadContract if shapes disagree or steps do not increase. Values that are not finite are left out.
    Known: one rise -> one; two of 8 sds, a factor of four apart -> two.
    Misleads: a rise that overshoots is a rise and a fall; two rises closer than a few checkpoints are one.
    """
    check_settings(level=level, alpha=alpha, least=least)
    series = examined(steps, values, null)
    if isinstance(series, Located):
        return series
    bank = sigmoids_over(series.steps)

    def strength(several: NDArray) -> NDArray:
        tidy = without_outliers(several)
        return beyond_trend(series.steps, tidy, _best_two(bank, tidy)[2])

    clean = without_outliers(series.values)
    first, second, explained = (part[0] for part in _best_two(bank, clean[None]))
    pairs = [(int(first), clean)]
    if _two_are_better(bank, clean, float(explained)):
        one, other = (_without(bank, clean, int(first), int(second), out) for out in (1, 0))
        pairs = [(int(first), one), (int(second), other)]
    described = [described_rise(series.steps, rest, bank.widths[i], width_limit, level) for i, rest in pairs]
    described.sort(key=lambda one: one.step or 0.0)
    much = float(strength(series.values[None])[0])
    return judged(described, [much] * len(described), series, strength, alpha=alpha, least=least)


def _best_two(bank: Sigmoids, values: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """Indices [series] of two curves in values [series, point], and the centred power both take out."""
    shares = bank.shares(values)
    first = np.square(shares).argmax(axis=1)
    second, _ = _beside(bank, shares, first)
    first, explained = _beside(bank, shares, second)
    return first, second, explained


def _beside(bank: Sigmoids, shares: NDArray, given: NDArray) -> tuple[NDArray, NDArray]:
    """The curve [series] that together with the given one takes out most, and how much both do."""
    overlap = bank.units.T[given] @ bank.units
    own = np.take_along_axis(shares, given[:, None], axis=1)
    free = 1 - overlap**2
    gain = np.where(free > 1e-3, (shares - overlap * own) ** 2 / np.maximum(free, 1e-3), 0.0)
    best = gain.argmax(axis=1)
    return best, own[:, 0] ** 2 + np.take_along_axis(gain, best[:, None], axis=1)[:, 0]


def _two_are_better(bank: Sigmoids, values: NDArray, explained: float) -> bool:
    centred = values - values.mean()
    whole = float(centred @ centred)
    shares = bank.shares(values[None])[0]
    best = int(np.square(shares).argmax())
    one = whole - float(shares[best]) ** 2
    floor = 1e-12 * whole + np.finfo(np.float64).tiny
    memory = float(inflation(noise_memory(centred - shares[best] * bank.units[:, best])))
    gained = values.size * math.log(max(one, floor) / max(whole - explained, floor))
    return gained > OF_A_RISE * math.log(values.size) * memory


def _without(bank: Sigmoids, values: NDArray, first: int, second: int, out: int) -> NDArray:
    """Values less one (`out`: 0 or 1) of two curves laid through them together."""
    design = np.stack([bank.units[:, first], bank.units[:, second]], axis=1)
    sizes, *_ = np.linalg.lstsq(design, values - values.mean(), rcond=None)
    return values - sizes[out] * design[:, out]
