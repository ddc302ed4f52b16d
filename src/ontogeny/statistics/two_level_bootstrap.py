"""An interval over runs and the documents each was evaluated on (STA-05)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ontogeny.errors import BadArgument
from ontogeny.statistics.intervals import bca_shares, t_interval
from ontogeny.vocabulary import Reading, Status, undefined

#: From how many runs the interval is a bootstrap's, and from how many it is corrected for bias and skew.
BOOTSTRAP, CORRECTED = 10, 20
DRAWS = 10_000
#: Drawn documents held in memory at once.
AT_ONCE = 4_000_000

Statistic = Callable[[NDArray], NDArray]
Method = Literal["t", "percentile", "BCa"]


@dataclass(frozen=True)
class TwoLevel:
    """A statistic with its interval (`estimate.n` is the number of runs), and how the interval was made.

    method  "t", "percentile", "BCa", or "" where there is none
    """

    estimate: Reading
    method: str


def mean_of_runs(values: NDArray) -> NDArray:
    """Mean over runs of their means, [..., run, document] -> [...]; where NaN is, there is no document."""
    present = ~np.isnan(values)
    sums = np.where(present, values, 0.0).sum(-1)
    return (sums / present.sum(-1)).mean(-1)


def two_level_bootstrap(
    values: NDArray,
    *,
    statistic: Statistic = mean_of_runs,
    level: float = 0.95,
    draws: int = DRAWS,
    method: Method | None = None,
    seed: int = 0,
) -> TwoLevel:
    """Interval of a statistic of values [run, document]: runs are drawn again, then documents in each.

    NaN stand where a run has fewer documents; runs without any are left out. `statistic` takes
    [draw, run, document] and returns [draw]. Below 10 runs the interval is Student's over the statistic of
    each run by itself, because the bootstrap's is too narrow there; from 10 the percentiles, from 20 BCa.
    `method` says otherwise.

    Status: `no-target` without a document, `nonfinite` where a value or the statistic is infinite. One run
    gives its value and no interval: its documents say nothing of other runs.
    Known: var(mean) = σ_b² / R + σ_w² / (R n). Coverage of the 95 % percentiles: 88 % at 5 runs, 90 % at 8,
    95 % at 30; docs/statistics.md has it measured, beside Student's.
    Misleads: runs that were all evaluated on the same documents share what is odd about these; the interval
    is then of new runs on such documents, not of the skill they stand for.
    Source: Davison & Hinkley 1997, section 3.8 (recalled).
    """
    if values.ndim != 2:
        raise BadArgument("values are [run, document]", received=f"shape {values.shape}", allowed="2 axes")
    values = np.asarray(values, dtype=np.float64)
    values = values[~np.isnan(values).all(1)] if values.size else values[:0]
    runs = len(values)
    if runs == 0:
        return TwoLevel(undefined(Status.NO_TARGET, "no run has a document", n=0), "")
    estimate = float(statistic(values[None])[0])
    if np.isinf(values).any() or not np.isfinite(estimate):
        return TwoLevel(undefined(Status.NONFINITE, f"the statistic is {estimate}", n=runs), "")
    if runs == 1:
        reason = "one run: its documents say nothing of other runs"
        return TwoLevel(Reading(estimate, n=1, reason=reason), "")
    method = method or ("t" if runs < BOOTSTRAP else "percentile" if runs < CORRECTED else "BCa")
    if method == "t":
        return TwoLevel(t_interval(statistic(values[:, None]), level=level), method)
    drawn = np.sort(_drawn(values, statistic, draws, np.random.default_rng(seed)))
    shares = np.array([(1 - level) / 2, (1 + level) / 2])
    if method == "BCa" and np.ptp(drawn) > 0:
        left_out = np.array([statistic(np.delete(values, run, 0)[None])[0] for run in range(runs)])
        shares = bca_shares(shares, drawn, estimate, left_out)
    low, high = np.quantile(drawn, shares)
    reason = "" if np.ptp(drawn) > 0 else f"all {runs} runs are equal: they show no spread"
    return TwoLevel(Reading(estimate, n=runs, low=float(low), high=float(high), reason=reason), method)


def _drawn(values: NDArray, statistic: Statistic, draws: int, rng: np.random.Generator) -> NDArray:
    """The statistic of `draws` drawn sets of runs with drawn documents."""
    runs, most = values.shape
    counts = (~np.isnan(values)).sum(1)
    packed = np.take_along_axis(values, np.isnan(values).argsort(axis=1, kind="stable"), axis=1)
    each = max(1, AT_ONCE // values.size)
    found = []
    for start in range(0, draws, each):
        chosen = rng.integers(runs, size=(min(each, draws - start), runs))
        have = counts[chosen][..., None]
        documents = (rng.random((*chosen.shape, most)) * have).astype(np.intp)
        drawn = packed[chosen[..., None], documents]
        if (counts < most).any():
            drawn[np.arange(most) >= have] = np.nan
        found.append(statistic(drawn))
    return np.concatenate(found)
