"""Whether chance alone makes runs show what they show: against controls, by signs, or by the runs' own p."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from ontogeny.statistics.arrangements import label_arrangements, sign_arrangements
from ontogeny.statistics.max_statistic import MaxStatistic, max_statistic
from ontogeny.vocabulary import Reading, Status, undefined


@dataclass(frozen=True)
class SeedTest:
    """One test over runs: how it was made, its p alone, and its p among all that were made together."""

    test: str
    p: Reading
    p_family: Reading


def against_controls(sizes: NDArray, others: NDArray, alpha: float) -> list[SeedTest]:
    """Sizes [run test] against those of controls [run test]: all ways to deal the labels to the runs.

    The statistic is the difference of the means over the sd of all runs together, which orders arrangements
    as t does and is finite where runs are equal. A run in which something was not looked at is NaN, and left
    out of that test. Known: 5 and 5 completely apart -> 2 / 252.
    """
    values = np.concatenate([sizes, others])
    labels = np.repeat([1, 0], [len(sizes), len(others)])
    present = np.isfinite(values)
    filled = np.where(present, values, 0.0)
    count = np.maximum(present.sum(0), 1)
    centred = np.where(present, values - filled.sum(0) / count, 0.0)
    spread = np.sqrt(np.square(centred).sum(0) / count)
    scaled = centred / np.where(spread > 0, spread, 1.0)

    def statistic(dealt: NDArray) -> NDArray:
        with np.errstate(invalid="ignore", divide="ignore"):
            return (dealt @ scaled) / (dealt @ present) - ((1 - dealt) @ scaled) / ((1 - dealt) @ present)

    found = max_statistic(statistic, label_arrangements(labels), alpha=alpha, batched=True)
    return _named("labels", found, "not looked at in the runs or in the controls")


def by_signs(sizes: NDArray, alpha: float) -> list[SeedTest]:
    """Sizes [run test] at places fixed beforehand: under the null each is as likely of the other sign.

    The statistic is |Σx| / √(n Σx²). Known: 6 runs of one sign -> 2 / 64.
    """
    filled = np.where(np.isfinite(sizes), sizes, 0.0)
    scale = np.sqrt(np.isfinite(sizes).sum(0) * np.square(filled).sum(0))
    scaled = filled / np.where(scale > 0, scale, 1.0)
    found = max_statistic(
        lambda signs: signs @ scaled, sign_arrangements(len(sizes)), alpha=alpha, batched=True
    )
    return [
        replace(one, p=_of_runs(one.p), p_family=_of_runs(one.p_family))
        for one in _named("signs", found, "not looked at")
    ]


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


def _named(test: str, found: MaxStatistic, absent: str) -> list[SeedTest]:
    """Both p of every test; the reason in words where a statistic does not exist."""
    readings = [
        tuple(
            replace(one, reason=absent) if one.status is Status.NONFINITE and one.reason else one
            for one in both
        )
        for both in zip(found.alone, found.p, strict=True)
    ]
    return [SeedTest(test, alone, family) for alone, family in readings]


def _of_runs(one: Reading) -> Reading:
    """The same of runs: their signs are flipped singly, not in pairs."""
    return replace(one, reason=one.reason.replace("pairs", "runs").replace("pair", "run"))


def as_rows(values: Sequence[NDArray], runs: int) -> NDArray:
    """Columns [test][run] as [run test], also where there are none of either."""
    return np.array(values, dtype=np.float64).reshape(len(values), runs).T
