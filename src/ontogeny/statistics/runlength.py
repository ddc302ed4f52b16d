"""How long a level has lasted, judged while the series arrives: Bayesian online change-point detection."""

from collections.abc import Iterable, Iterator

import numpy as np
import scipy.special
from numpy.typing import NDArray

#: Normal-gamma prior of a level's mean and precision, for standardised values.
ALPHA, BETA, KAPPA = 0.1, 0.1, 1.0
#: Fewest points of a level.
FEWEST = 3


def run_lengths(values: NDArray, hazard: float) -> Iterator[NDArray]:
    """P(run length = r) [series, r] after every point of values [series, point] (Adams & MacKay 2007).

    Values are standardised per series (a constant one stays at 0); the predictive is Student's t, the hazard
    of a change constant.
    Known: P(r = 0) is the hazard at every point, whatever comes, so it says nothing.
    """
    series, points = values.shape
    sd = values.std(axis=1, keepdims=True)
    data = (values - values.mean(axis=1, keepdims=True)) / np.where(sd > 0, sd, 1.0)
    ages = np.arange(points + 1)
    alpha, kappa = ALPHA + ages / 2, KAPPA + ages
    constant = (
        scipy.special.gammaln(alpha + 0.5) - scipy.special.gammaln(alpha) - 0.5 * np.log(2 * np.pi * alpha)
    )
    mean, beta = np.zeros((series, points + 1)), np.full((series, points + 1), BETA)
    weights = np.zeros((series, points + 1))
    weights[:, 0] = 1.0
    for t in range(points):
        alive = slice(0, t + 1)
        off = data[:, t : t + 1] - mean[:, alive]
        scale = beta[:, alive] * (kappa[alive] + 1) / (alpha[alive] * kappa[alive])
        exponent = constant[alive] - 0.5 * np.log(scale)
        exponent -= (alpha[alive] + 0.5) * np.log1p(off**2 / (2 * alpha[alive] * scale))
        grown = weights[:, alive] * np.exp(exponent - exponent.max(axis=1, keepdims=True))
        grown /= grown.sum(axis=1, keepdims=True)
        weights[:, 1 : t + 2], weights[:, 0] = grown * (1 - hazard), hazard
        yield weights.copy()
        beta[:, 1 : t + 2] = beta[:, alive] + kappa[alive] * off**2 / (2 * (kappa[alive] + 1))
        mean[:, 1 : t + 2] = mean[:, alive] + off / (kappa[alive] + 1)
        beta[:, 0], mean[:, 0] = BETA, 0.0


def declared_changes(lengths: Iterable[NDArray], confirm: int) -> NDArray:
    """First points of new levels, as booleans [series, point], from `run_lengths`.

    A change at t is declared when `confirm` points later P(run length = confirm) > ½, or when the likeliest
    run length falls by more than it could by one point's doubt: from above 2 · confirm to `confirm` or less.
    """
    columns: list[NDArray] = []
    before = None
    for now, chances in enumerate(lengths):
        series = chances.shape[0]
        columns.append(np.zeros(series, dtype=bool))
        likeliest = chances[:, 1:].argmax(axis=1) + 1
        if now >= confirm and before is not None:
            columns[now - confirm + 1] |= chances[:, confirm] > 0.5
            for row in np.flatnonzero((before > 2 * confirm) & (likeliest <= confirm)):
                columns[now - int(likeliest[row]) + 1][row] = True
        before = likeliest
    changes = np.stack(columns, axis=1)
    points = len(columns)
    changes[:, :FEWEST] = changes[:, points - FEWEST + 1 :] = False
    return _thinned(changes)


def _thinned(changes: NDArray) -> NDArray:
    """Without those within FEWEST points after another: the same change declared twice."""
    kept, last = np.zeros_like(changes), np.full(changes.shape[0], -FEWEST)
    for point in range(changes.shape[1]):
        new = changes[:, point] & (point - last >= FEWEST)
        kept[new, point], last[new] = True, point
    return kept
