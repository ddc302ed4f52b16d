"""Differences between paired runs: an effect, its interval, an exact p, and how many pairs it would take.

The unit is the run: one pair is two runs of one seed. One pair gives an effect and nothing else.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from ontogeny.vocabulary import Reading, Status, undefined

#: From how many pairs the interval is a bootstrap's, and from how many it is corrected for bias and skew.
BOOTSTRAP, CORRECTED = 10, 20
#: Sign flips are enumerated up to this many; beyond, this many (less one) are drawn.
ARRANGEMENTS = 10_000
DRAWS = 10_000
#: Up to this many pairs their spread is taken at its upper 80 % bound before seeds are counted.
FEW_PAIRS, BOUND = 5, 0.8
#: No count of seeds beyond this is reported.
MOST_SEEDS = 100_000
#: Two totals closer than this share of the largest possible one are equal.
TIE = 1e-9
#: Tests whose arrangements are held in memory at once.
CHUNK = 256


@dataclass(frozen=True)
class PairedEffect:
    """One number compared over pairs.

    effect    mean difference with its interval; no interval from one pair
    interval  how the interval was made: "t", "percentile", "BCa", or "" where there is none
    p         two-sided, by sign flips, of this number alone
    p_family  the same held against the largest of all numbers compared together
    seeds     pairs that would show an effect as large as the one seen
    """

    effect: Reading
    interval: str
    p: Reading
    p_family: Reading
    seeds: Reading


def paired_effects(
    differences: NDArray, *, alpha: float = 0.05, power: float = 0.8, seed: int = 0
) -> list[PairedEffect]:
    """What differences [pair test] say, test by test; NaN where a pair lacks a number.

    The interval, at 1 − alpha, is Student's below 10 pairs, a bootstrap's from 10 (percentile; BCa from
    20). p is given only where the pairs can reach alpha at all; otherwise it is `n-too-small`, and the
    reason says how many pairs can. `seeds` is what the paired t test and the exact test both need.
    Status: `no-target` where no pair has a number.
    Known: all differences 0 -> effect 0, p 1; one pair -> an effect and no p.
    Misleads: at most 5 pairs of runs that differ in more than the one thing; an effect seen in few pairs is
    too large on average, and the seeds counted from it too few. Coverage of the 95 % interval on normal
    differences: 95 % at 5 pairs (t), 89 % at 10 (percentile), 93 % at 20 (BCa).
    """
    differences = np.asarray(differences, dtype=np.float64)
    alone, family = sign_flip_p(differences, seed=seed)
    found = []
    for index in range(differences.shape[1]):
        column = differences[:, index]
        column = column[np.isfinite(column)]
        effect, interval = _interval(column, alpha, seed)
        p, together = (_reachable(float(values[index]), column.size, alpha) for values in (alone, family))
        found.append(PairedEffect(effect, interval, p, together, _seeds(column, alpha, power)))
    return found


def sign_flip_p(differences: NDArray, *, seed: int = 0) -> tuple[NDArray, NDArray]:
    """Two-sided p of differences [pair test], each alone and each against the family's largest [test].

    Under the null a pair's difference is as likely with the other sign. The statistic is |Σx| / √(n Σx²),
    which orders arrangements as |t| does; all 2^n sign flips (the same for every test) up to 13 pairs, 9,999
    drawn ones and the one observed beyond. NaN is left out of sums; a test without a number gives NaN.
    Known: all n differences equal -> 2 / 2^n; all 0 -> 1.
    Misleads: it can never be below 2 / 2^n, whatever the effect.
    """
    present = np.isfinite(differences)
    values = np.where(present, differences, 0.0)
    size = np.abs(values).max(0, initial=0.0)
    values = values / np.where(size > 0, size, 1.0)  # squares of tiny numbers vanish
    flips = _flips(len(values), seed)
    scale = np.sqrt(present.sum(0) * np.square(values).sum(0))
    scale = np.where(scale > 0, scale, 1.0)
    seen = np.abs(values.sum(0)) / scale
    alone, largest = np.empty(values.shape[1]), np.zeros(len(flips))
    for start in range(0, values.shape[1], CHUNK):
        part = slice(start, start + CHUNK)
        flipped = np.abs(flips @ values[:, part]) / scale[part]
        alone[part] = (flipped >= seen[part] - TIE).mean(0)
        largest = np.maximum(largest, flipped.max(1))
    family = 1 - np.searchsorted(np.sort(largest), seen - TIE) / len(flips)
    absent = ~present.any(0)
    return np.where(absent, np.nan, alone), np.where(absent, np.nan, family)


def _flips(pairs: int, seed: int) -> NDArray:
    """Signs [arrangement pair]; what was observed, all +1, is the first."""
    if 2**pairs <= ARRANGEMENTS:
        return 1.0 - 2.0 * ((np.arange(2**pairs)[:, None] >> np.arange(pairs)) & 1)
    drawn = np.random.default_rng(seed).choice([-1.0, 1.0], (DRAWS, pairs))
    drawn[0] = 1
    return drawn


def smallest_p(pairs: int) -> float:
    """The smallest two-sided p that sign flips of so many pairs give. Known: 5 -> 0.0625, 6 -> 0.03125."""
    return 2.0 ** (1 - pairs) if 2**pairs <= ARRANGEMENTS else 1 / DRAWS


def pairs_to_reach(alpha: float) -> int:
    """Fewest pairs whose smallest p is at most alpha. Known: 0.05 -> 6, 0.01 -> 8."""
    return max(1, math.ceil(1 - math.log2(alpha) - TIE))


def paired_power(size: float, pairs: int, alpha: float = 0.05) -> float:
    """Chance that a two-sided paired t test shows a mean difference of `size` sds of the differences."""
    limit, shift = stats.t.ppf(1 - alpha / 2, pairs - 1), abs(size) * math.sqrt(pairs)
    return float(stats.nct.sf(limit, pairs - 1, shift) + stats.nct.cdf(-limit, pairs - 1, shift))


def seeds_needed(size: float, alpha: float = 0.05, power: float = 0.8) -> int | None:
    """Fewest pairs at which `paired_power` reaches `power`; None above 100,000.

    `size` is the mean difference over the sd of the differences. Divide alpha by the number of primary
    claims. Known: 2 -> 5, 1.5 -> 6, 1 -> 10, 0.8 -> 15, 0.5 -> 34.
    """
    if not paired_power(size, MOST_SEEDS, alpha) >= power:
        return None
    low, high = 1, 2
    while paired_power(size, high, alpha) < power:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if paired_power(size, middle, alpha) >= power else (middle, high)
    return high


def _interval(column: NDArray, alpha: float, seed: int) -> tuple[Reading, str]:
    n = column.size
    if n == 0:
        return undefined(Status.NO_TARGET, "no pair has this number", n=0), ""
    mean = float(column.mean())
    if n == 1:
        return Reading(mean, n=1), ""
    if n < BOOTSTRAP:
        half = float(stats.t.ppf(1 - alpha / 2, n - 1) * column.std(ddof=1)) / math.sqrt(n)
        return Reading(mean, n=n, low=mean - half, high=mean + half), "t"
    drawn = np.random.default_rng(seed).integers(n, size=(DRAWS, n))
    means = np.sort(column[drawn].mean(1))
    shares = np.array([alpha / 2, 1 - alpha / 2])
    if n >= CORRECTED and np.ptp(column) > 0:
        shares = _corrected(shares, means, column)
    low, high = np.quantile(means, shares)
    return Reading(mean, n=n, low=float(low), high=float(high)), "BCa" if n >= CORRECTED else "percentile"


def _corrected(shares: NDArray, means: NDArray, column: NDArray) -> NDArray:
    """Efron's BCa: the shares at which to cut the bootstrap's means, for bias and skew."""
    n = column.size
    bias = stats.norm.ppf((np.searchsorted(means, column.mean()) + 0.5) / (len(means) + 1))
    left_out = (column.sum() - column) / (n - 1)
    gaps = left_out.mean() - left_out
    skew = (gaps**3).sum() / (6 * (gaps**2).sum() ** 1.5)
    z = bias + stats.norm.ppf(shares)
    return stats.norm.cdf(bias + z / (1 - skew * z))


def _reachable(p: float, pairs: int, alpha: float) -> Reading:
    """p, unless no arrangement of so few pairs could have been significant."""
    if pairs == 0:
        return undefined(Status.NO_TARGET, "no pair has this number", n=0)
    if pairs == 1:
        return undefined(Status.N_TOO_SMALL, f"one pair has no p; {pairs_to_reach(alpha)} are needed", n=1)
    if (least := smallest_p(pairs)) > alpha:
        reason = (
            f"{pairs} pairs cannot go below p = {least:.3g}; alpha {alpha:g} needs {pairs_to_reach(alpha)}"
        )
        return undefined(Status.N_TOO_SMALL, reason, n=pairs)
    return Reading(p, n=pairs)


def _seeds(column: NDArray, alpha: float, power: float) -> Reading:
    """Pairs that would show the effect seen, with the spread seen (its upper bound where pairs are few)."""
    n = column.size
    if n < 2:
        sizes = ", ".join(f"{seeds_needed(size, alpha, power)} at {size:g}" for size in (2.0, 1.0, 0.5))
        reason = f"{n} pair(s) show no spread; pairs needed by effect in sds of the differences: {sizes}"
        return undefined(Status.N_TOO_SMALL, reason, n=n)
    mean, sd = abs(float(column.mean())), float(column.std(ddof=1))
    if mean == 0:
        return undefined(Status.NO_TARGET, "no difference was seen", n=n)
    if n <= FEW_PAIRS:
        sd *= math.sqrt((n - 1) / stats.chi2.ppf(1 - BOUND, n - 1))
    exact = pairs_to_reach(alpha)
    needed = exact if sd <= mean * TIE else seeds_needed(mean / sd, alpha, power)
    if needed is None:
        return undefined(Status.OVER_BUDGET, f"more than {MOST_SEEDS:,} pairs", n=n)
    return Reading(float(max(needed, exact)), n=n)
