"""Differences between two arms of unpaired runs: effect, interval, exact p, and the seeds it would take."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from ontogeny.errors import BadArgument
from ontogeny.statistics.arrangements import label_arrangements
from ontogeny.statistics.max_statistic import max_statistic
from ontogeny.statistics.seeds import seeds_to_show
from ontogeny.vocabulary import Reading, Status, undefined


@dataclass(frozen=True)
class ArmEffect:
    """One number compared between two arms.

    effect    treatment mean less control mean, with Welch's interval; none where an arm has one run
    p         two-sided, by permuting labels, of this number alone
    p_family  the same held against the largest of all numbers compared together
    seeds     runs in each arm that would show an effect as large as the one seen
    """

    effect: Reading
    p: Reading
    p_family: Reading
    seeds: Reading


def arm_effects(
    control: NDArray, treatment: NDArray, *, alpha: float = 0.05, power: float = 0.8, claims: int = 1
) -> list[ArmEffect]:
    """What two arms [run test] say, test by test; NaN where a run lacks a number.

    The statistic is the difference of means over the sd of all runs, which orders arrangements of labels as
    |t| does. p is given only where so many runs can reach alpha / claims. For runs that share seeds use
    `paired_effects`, which shows more with fewer.
    Status: `no-target` where an arm has no number; else those of `max_statistic` and `seeds_to_show`.
    Known: 5 + 5 runs apart -> p 0.0079; 3 + 3 -> an effect and no p.
    Misleads: an effect seen in few runs is too large on average, and the seeds counted from it too few.
    """
    control, treatment = (np.asarray(arm, dtype=np.float64) for arm in (control, treatment))
    if control.ndim != 2 or treatment.ndim != 2 or control.shape[1] != treatment.shape[1]:
        raise BadArgument(
            "two arms are [run test], with the same tests",
            received=f"shapes {control.shape} and {treatment.shape}",
            allowed="the same number of columns",
        )
    alpha = alpha / claims
    values = np.concatenate([control, treatment])
    labels = np.repeat([0, 1], [len(control), len(treatment)])
    found = max_statistic(
        _differences(values), label_arrangements(labels), alpha=alpha, two_sided=True, batched=True
    )
    made = []
    for test in range(values.shape[1]):
        sides = [side[np.isfinite(side[:, test]), test] for side in (control, treatment)]
        effect = _welch(sides[0], sides[1], alpha)
        p, together = found.alone[test], found.p[test]
        if effect.status is Status.NO_TARGET:
            p = together = effect
        made.append(ArmEffect(effect, p, together, _seeds(sides[0], sides[1], effect, alpha, power)))
    return made


def _differences(values: NDArray) -> Callable[[NDArray], NDArray]:
    """labels [arrangement, run] -> differences of means over the sd of all runs [arrangement, test]."""
    present = np.isfinite(values).astype(np.float64)
    filled = np.where(present > 0, values, 0.0)
    counts = np.maximum(present.sum(0), 1)
    filled = np.where(present > 0, filled - filled.sum(0) / counts, 0.0)
    size = np.abs(filled).max(0, initial=0.0)
    filled = filled / np.where(size > 0, size, 1.0)
    sd = np.sqrt(np.square(filled).sum(0) / counts)
    filled = filled / np.where(sd > 0, sd, 1.0)

    def differ(labels: NDArray) -> NDArray:
        treated = (labels == 1).astype(np.float64)
        sums = [(arm @ filled, arm @ present) for arm in (treated, 1 - treated)]
        means = [total / np.where(n > 0, n, np.nan) for total, n in sums]
        return means[0] - means[1]

    return differ


def _welch(control: NDArray, treatment: NDArray, alpha: float) -> Reading:
    n = control.size + treatment.size
    if not (control.size and treatment.size):
        return undefined(Status.NO_TARGET, "an arm has no run with this number", n=n)
    effect = float(treatment.mean() - control.mean())
    if min(control.size, treatment.size) < 2:
        return Reading(effect, n=n, reason="an arm of one run has no interval")
    shares = [arm.var(ddof=1) / arm.size for arm in (control, treatment)]
    if sum(shares) == 0:
        return Reading(effect, n=n, low=effect, high=effect, reason="no arm shows any spread")
    freedom = sum(shares) ** 2 / sum(
        share**2 / (arm.size - 1) for share, arm in zip(shares, (control, treatment), strict=True)
    )
    half = float(stats.t.ppf(1 - alpha / 2, freedom)) * math.sqrt(sum(shares))
    return Reading(effect, n=n, low=effect - half, high=effect + half)


def _seeds(control: NDArray, treatment: NDArray, effect: Reading, alpha: float, power: float) -> Reading:
    """From the pooled spread; of few runs its upper bound, counted by the runs that gave it."""
    if effect.status is Status.NO_TARGET:
        return effect
    freedom = control.size + treatment.size - 2
    pooled = sum(float(np.square(arm - arm.mean()).sum()) for arm in (control, treatment))
    sd = math.sqrt(pooled / freedom) if freedom else 0.0
    return seeds_to_show(float(effect.value), sd, freedom + 1, alpha=alpha, power=power)
