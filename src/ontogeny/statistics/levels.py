"""Changes of level described and held against the null, whichever way they were proposed."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ontogeny.statistics.autoregression import noise_memory, noise_sd
from ontogeny.statistics.change_time import located_change
from ontogeny.statistics.contrast import contrasts, detrended
from ontogeny.statistics.examined import Examined, judged
from ontogeny.statistics.partition import segment_ends
from ontogeny.statistics.trend import without_outliers
from ontogeny.vocabulary import Detected, Located, Verdict

#: (values [series, point]) -> first points of new levels, as booleans [series, point].
Propose = Callable[[NDArray], NDArray]


def judged_levels(
    series: Examined, propose: Propose, *, level: float, alpha: float, least: float
) -> Detected:
    """What `propose` finds in a series, each change with its step, interval, size and p.

    A change's strength is its local contrast (`contrasts`) after the smooth trend has been taken out; its
    size is the difference of the means of the whole segments around it, trend and all.
    """

    def strengths(values: NDArray) -> NDArray:
        return np.abs(contrasts(detrended(series.steps, values), propose(values)))

    values = series.values[None]
    changes = propose(values)
    if not changes.any():
        return judged([], [], series, _largest(strengths), alpha=alpha, least=least)
    much = np.abs(contrasts(detrended(series.steps, values), changes))[0]
    at = np.flatnonzero(changes[0])
    described = [_described(series, changes, index, level) for index in at.tolist()]
    found = [float(much[index]) for index in at]
    return judged(described, found, series, _largest(strengths), alpha=alpha, least=least)


def _largest(strengths: Callable[[NDArray], NDArray]) -> Callable[[NDArray], NDArray]:
    return lambda values: strengths(values).max(axis=1)


def _described(series: Examined, changes: NDArray, at: int, level: float) -> Located:
    left, right = (int(ends[0, at]) for ends in segment_ends(changes))
    clean = without_outliers(series.values)
    off = clean - clean.mean()
    for first, last in ((left, at), (at, right)):
        off[first:last] = clean[first:last] - clean[first:last].mean()
    phi = float(noise_memory(off))
    step, low, high = located_change(series.steps, clean, at, (left, right), phi, level)
    size = float(clean[at:right].mean() - clean[left:at].mean())
    return Located(
        Verdict.TRANSITION,
        step=step,
        low=low,
        high=high,
        level=level,
        size=size,
        quiet_sd=float(noise_sd(off, phi)),
        kind="rise" if size >= 0 else "fall",
    )
