"""Intervals for the mean of a few runs, and the bias and skew of a bootstrap."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from ontogeny.vocabulary import Reading, Status, undefined


def t_interval(values: NDArray | Sequence[Any], *, level: float = 0.95) -> Reading:
    """Mean of values [run] with Student's interval: mean ± t · sd / √n.

    What is not finite is left out, and `n` counts the rest. One value gives a mean and no interval, and says
    so in the reason; equal values give an interval without width, and say so.
    Status: `no-target` without a finite value.
    Known: (1, 2, 3) at 95 % -> 2 ± 2.484.
    Misleads: checkpoints of one run are not runs.
    """
    given = np.asarray(values, dtype=np.float64).ravel()
    kept = given[np.isfinite(given)]
    n = kept.size
    if n == 0:
        return undefined(Status.NO_TARGET, f"none of {given.size} values is finite", n=0)
    mean = same_mean(kept)
    if n == 1:
        return Reading(mean, n=1, reason="one value has no interval")
    half = float(stats.t.ppf((1 + level) / 2, n - 1) * np.std(kept - mean, ddof=1)) / math.sqrt(n)
    reason = "" if np.ptp(kept) > 0 else f"all {n} values are equal: they show no spread"
    return Reading(mean, n=n, low=mean - half, high=mean + half, reason=reason)


def same_mean(values: NDArray) -> float:
    """The mean of finite values, which of equal ones is that value to the last bit."""
    first = float(values[0])
    return first + float(np.mean(values - first))


def bca_shares(shares: NDArray, drawn: NDArray, estimate: float, left_out: NDArray) -> NDArray:
    """Efron's BCa: the shares at which to cut a bootstrap's draws, so that bias and skew are paid for.

    `drawn` [draw] must be sorted; `left_out` [unit] is the estimate without each unit. Where leaving one out
    changes nothing there is no skew.
    Source: Davison & Hinkley 1997, section 5.3.2 (recalled).
    """
    bias = stats.norm.ppf((np.searchsorted(drawn, estimate) + 0.5) / (len(drawn) + 1))
    gaps = left_out.mean() - left_out
    power = float((gaps**2).sum() ** 1.5)
    skew = float((gaps**3).sum()) / (6 * power) if power > 0 else 0.0
    z = bias + stats.norm.ppf(shares)
    return stats.norm.cdf(bias + z / (1 - skew * z))
