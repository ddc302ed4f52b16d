"""Whether a number differs between checkpoints or layers, over several runs (STA-06)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from ontogeny.errors import BadArgument
from ontogeny.vocabulary import Reading, Status, undefined

#: Mean squares below this share of the data's are rounding.
ROUNDING = 1e-24


@dataclass(frozen=True)
class RepeatedMeasures:
    """One within-run factor.

    f            MS of the factor over MS of factor × run
    epsilon      Greenhouse and Geisser's: 1 where the plain F is right, down to 1 / (k − 1)
    p            with both degrees of freedom multiplied by epsilon
    p_spherical  without that correction
    freedom      the corrected degrees of freedom
    """

    f: Reading
    epsilon: Reading
    p: Reading
    p_spherical: Reading
    freedom: tuple[float, float]


def repeated_measures(values: NDArray) -> RepeatedMeasures:
    """Analysis of variance of values [run, level], the levels being checkpoints or layers of one run.

    ε = tr(M)² / ((k − 1) tr(M²)), M the covariance of the k levels with row and column means taken out.
    Balanced data only. Status: `n-too-small` below 2 runs, `too-short` below 2 levels, `nonfinite` where a
    value is missing (leave the run or the level out), `constant-input` where runs differ by constants only.
    Known: equal correlations -> ε = 1; AR(0.9) and k = 4 -> 0.682 in the limit; 2 levels -> ε = 1 and F = t².
    Misleads: it says that some levels differ, not which; with few runs ε is estimated too small, and the
    corrected test claims less often than it may.
    Source: Greenhouse & Geisser 1959 (checked with pingouin).
    """
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 2:
        raise BadArgument("values are [run, level]", received=f"shape {values.shape}", allowed="2 axes")
    n, k = values.shape
    if n < 2 or k < 2:
        status = Status.TOO_SHORT if k < 2 else Status.N_TOO_SMALL
        return _undefined(status, f"{n} run(s) of {k} level(s); 2 of 2 are needed", n)
    missing = int(np.count_nonzero(~np.isfinite(values)))
    if missing:
        return _undefined(Status.NONFINITE, f"{missing} of {values.size} values; balanced data only", n)
    left = values - values.mean(0) - values.mean(1, keepdims=True) + values.mean()
    covariance = left.T @ left / (n - 1)
    error = float(np.trace(covariance)) / (k - 1)
    if error <= ROUNDING * float(np.square(values).mean()):
        return _undefined(Status.CONSTANT_INPUT, "runs differ by a constant at most: no error to test by", n)
    f = n * float(np.square(values.mean(0) - values.mean()).sum()) / (k - 1) / error
    epsilon = float(np.trace(covariance) ** 2 / ((k - 1) * np.square(covariance).sum()))
    epsilon = min(epsilon, 1.0)
    spherical = (float(k - 1), float((k - 1) * (n - 1)))
    freedom = (epsilon * spherical[0], epsilon * spherical[1])
    p, p_spherical = (float(stats.f.sf(f, *pair)) for pair in (freedom, spherical))
    f, epsilon, p, p_spherical = (Reading(number, n=n) for number in (f, epsilon, p, p_spherical))
    return RepeatedMeasures(f, epsilon, p, p_spherical, freedom)


def _undefined(status: Status, reason: str, n: int) -> RepeatedMeasures:
    gap = undefined(status, reason, n=n)
    return RepeatedMeasures(gap, gap, gap, gap, (np.nan, np.nan))
