"""Differences between paired runs: an effect, its interval, an exact p, and how many pairs it would take.

The unit is the run: one pair is two runs of one seed. One pair gives an effect and nothing else.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ontogeny.statistics.arrangements import pairs_to_reach, sign_arrangements
from ontogeny.statistics.intervals import bca_shares, t_interval
from ontogeny.statistics.seeds import seeds_to_show
from ontogeny.vocabulary import Reading, Status, undefined

#: From how many pairs the interval is a bootstrap's, and from how many it is corrected for bias and skew.
BOOTSTRAP, CORRECTED = 10, 20
DRAWS = 10_000
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
    flips = sign_arrangements(len(values), seed=seed).each
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


def _interval(column: NDArray, alpha: float, seed: int) -> tuple[Reading, str]:
    n = column.size
    if n == 0:
        return undefined(Status.NO_TARGET, "no pair has this number", n=0), ""
    if n < BOOTSTRAP:
        return t_interval(column, level=1 - alpha), "t" if n > 1 else ""
    mean = float(column.mean())
    drawn = np.random.default_rng(seed).integers(n, size=(DRAWS, n))
    means = np.sort(column[drawn].mean(1))
    shares = np.array([alpha / 2, 1 - alpha / 2])
    if n >= CORRECTED and np.ptp(column) > 0:
        left_out = (column.sum() - column) / (n - 1)
        shares = bca_shares(shares, means, mean, left_out)
    low, high = np.quantile(means, shares)
    return Reading(mean, n=n, low=float(low), high=float(high)), "BCa" if n >= CORRECTED else "percentile"


def _reachable(p: float, pairs: int, alpha: float) -> Reading:
    """p, unless no arrangement of so few pairs could have been significant."""
    if pairs == 0:
        return undefined(Status.NO_TARGET, "no pair has this number", n=0)
    if pairs == 1:
        return undefined(Status.N_TOO_SMALL, f"one pair has no p; {pairs_to_reach(alpha)} are needed", n=1)
    refused = sign_arrangements(pairs).refusal(alpha)
    return undefined(Status.N_TOO_SMALL, refused, n=pairs) if refused else Reading(p, n=pairs)


def _seeds(column: NDArray, alpha: float, power: float) -> Reading:
    n = column.size
    mean, sd = (float(column.mean()), float(column.std(ddof=1))) if n > 1 else (0.0, 0.0)
    return seeds_to_show(mean, sd, n, alpha=alpha, power=power, paired=True)
