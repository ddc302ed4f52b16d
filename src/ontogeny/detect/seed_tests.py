"""Whether chance alone makes runs show what they show: against controls, by signs, or by the runs' own p."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from ontogeny.statistics.arms import arm_effects
from ontogeny.statistics.arrangements import sign_arrangements
from ontogeny.statistics.max_statistic import max_statistic
from ontogeny.vocabulary import Reading, Status, undefined


@dataclass(frozen=True)
class SeedTest:
    """One test over runs: how it was made, its p alone, and its p among all that were made together."""

    test: str
    p: Reading
    p_family: Reading


def against_controls(sizes: NDArray, others: NDArray, alpha: float) -> list[SeedTest]:
    """Sizes [run test] against those of controls [run test]: all ways to deal the labels to the runs.

    A run in which something was not looked at is NaN, and left out of that test.
    Known: 5 and 5 completely apart -> 2 / 252.
    """
    return [SeedTest("labels", one.p, one.p_family) for one in arm_effects(others, sizes, alpha=alpha)]


def by_signs(sizes: NDArray, alpha: float) -> list[SeedTest]:
    """Sizes [run test] at places fixed beforehand: under the null each is as likely of the other sign.

    The statistic is |Σx| / √(n Σx²). Known: 6 runs of one sign -> 2 / 64.
    """
    filled = np.where(np.isfinite(sizes), sizes, 0.0)
    scale = np.sqrt(np.isfinite(sizes).sum(0) * np.square(filled).sum(0))
    scaled = filled / np.where(scale > 0, scale, 1.0)
    signs = sign_arrangements(len(sizes))
    found = max_statistic(lambda flipped: flipped @ scaled, signs, alpha=alpha, batched=True)
    return [SeedTest("signs", *map(_of_runs, both)) for both in zip(found.alone, found.p, strict=True)]


def by_nulls(p: NDArray) -> list[SeedTest]:
    """The runs' own p [run test], combined as Fisher does: −2 Σ ln p is χ² with 2n degrees of freedom.

    The null is that no run shows anything. `p_family` is Bonferroni's. Known: 5 runs at .005 -> 7e-8.
    Misleads: one run that shows it strongly is enough; `shown` says how many do.
    """
    found = []
    for column in p.T:
        known = column[np.isfinite(column)]
        if known.size < 2:
            what = f"{known.size} runs have a p of their own; " if len(p) > 1 else ""
            found.append(undefined(Status.N_TOO_SMALL, f"{what}one run has no p over seeds", n=known.size))
        else:
            found.append(
                Reading(float(stats.chi2.sf(-2 * np.log(known).sum(), 2 * known.size)), n=known.size)
            )
    tested = sum(not one.reason for one in found)
    family = [one if one.reason else replace(one, value=min(1.0, tested * float(one.value))) for one in found]
    return [SeedTest("nulls", *both) for both in zip(found, family, strict=True)]


def _of_runs(one: Reading) -> Reading:
    """The same of runs: their signs are flipped singly, not in pairs."""
    return replace(one, reason=one.reason.replace("pairs", "runs").replace("pair", "run"))


def as_rows(values: Sequence[NDArray], runs: int) -> NDArray:
    """Columns [test][run] as [run test], also where there are none of either."""
    return np.array(values, dtype=np.float64).reshape(len(values), runs).T
