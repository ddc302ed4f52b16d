"""How often chance alone gives the largest of many statistics, everything done again each time (STA-01)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ontogeny.errors import BadArgument
from ontogeny.statistics.arrangements import TIE, Arrangements
from ontogeny.vocabulary import Reading, Status, undefined

#: Statistics held in memory at once.
AT_ONCE = 4_000_000


@dataclass(frozen=True)
class MaxStatistic:
    """What many tests say together.

    observed      the statistics of what was observed [test]
    p             of each against the largest of all, so that the chance of one false claim is at most alpha
    alone         of each against its own arrangements; for `false_discovery`, or where it was the only test
    arrangements  how many were looked at, the observed one among them; `complete` if these are all
    """

    observed: NDArray
    p: tuple[Reading, ...]
    alone: tuple[Reading, ...]
    arrangements: int
    complete: bool


def max_statistic(
    statistic: Callable[[NDArray], NDArray],
    arrangements: Arrangements,
    *,
    alpha: float = 0.05,
    two_sided: bool = True,
    step_down: bool = False,
    batched: bool = False,
) -> MaxStatistic:
    """p_j = share of arrangements whose largest |T| is at least |T_j|, what was observed counted in.

    `statistic(labels [unit]) -> [test]` is the *whole* pipeline: whatever was chosen by looking at the
    labels (a layer, a head, a threshold) must be chosen in it again. With `batched` it takes
    [arrangement, unit] and returns [arrangement, test]. Arrangements come from `label_arrangements` (arms) or
    `sign_arrangements` (pairs). `step_down` holds each statistic against the largest of those not above it
    (Westfall and Young), which gives smaller p and the same guard. One-sided, larger counts as more.

    A statistic that is undefined (NaN, infinite) as observed is left out of the largest; where it is NaN in
    another arrangement it counts as exceeding. Status of p: `n-too-small` where no arrangement of so few
    units could reach alpha (the reason says how many could), `nonfinite` where the statistic is undefined.
    Known: 4 + 4 units completely apart -> 2 / 70; all units equal -> 1.
    Misleads: give it statistics on one scale (t, not differences), or the noisiest test decides alone;
    units that are not exchangeable (checkpoints of one run) make every p too small.
    Source: Westfall & Young 1993; Nichols & Holmes 2002 (recalled).
    """
    observed = _blocks(statistic, arrangements.each[:1], batched, 0)[0]
    tested = np.isfinite(observed)
    seen = _size(observed[tested], two_sided)
    limit = seen - TIE * np.abs(seen)
    order = np.argsort(-seen, kind="stable")
    alone, family = (np.zeros(seen.size, np.int64) for _ in range(2))
    for block in _cut(arrangements.each, observed.size):
        null = _size(_blocks(statistic, block, batched, observed.size)[:, tested], two_sided)
        null = np.where(np.isnan(null), np.inf, null)
        alone += (null >= limit).sum(0)
        family += (_largest(null, order, step_down) >= limit).sum(0)
    shares = family / len(arrangements)
    if step_down:
        shares[order] = np.maximum.accumulate(shares[order])
    refused = arrangements.refusal(alpha, two_sided)
    units = arrangements.each.shape[1]
    together, single = (
        _readings(p, observed, tested, refused, units) for p in (shares, alone / len(arrangements))
    )
    return MaxStatistic(observed, together, single, len(arrangements), arrangements.complete)


def _blocks(statistic: Callable, labels: NDArray, batched: bool, tests: int) -> NDArray:
    """Statistics [arrangement test] of labels [arrangement unit]."""
    rows = list(statistic(labels)) if batched else [statistic(row) for row in labels]
    rows = [np.atleast_1d(np.asarray(row, dtype=np.float64)) for row in rows]
    shapes = {row.shape for row in rows}
    if len(rows) != len(labels) or len(shapes) > 1 or rows[0].ndim > 1 or (tests and rows[0].size != tests):
        raise BadArgument(
            "the statistic must give the same tests, whatever the labels",
            received=f"{len(rows)} of shape {', '.join(map(str, sorted(shapes)))} for {len(labels)}",
            allowed="[arrangement, test] of [arrangement, unit]" if batched else "[test] of [unit]",
        )
    return np.stack(rows)


def _cut(each: NDArray, tests: int) -> Iterator[NDArray]:
    rows = max(1, AT_ONCE // max(1, tests, each.shape[1]))
    return (each[start : start + rows] for start in range(0, len(each), rows))


def _size(values: NDArray, two_sided: bool) -> NDArray:
    return np.abs(values) if two_sided else values


def _largest(null: NDArray, order: NDArray, step_down: bool) -> NDArray:
    """What each test's statistic is held against in every arrangement [arrangement, test or 1]."""
    if not step_down:
        return null.max(1, keepdims=True, initial=-np.inf)
    found = np.empty_like(null)
    found[:, order] = np.maximum.accumulate(null[:, order[::-1]], axis=1)[:, ::-1]
    return found


def _readings(
    p: NDArray, observed: NDArray, tested: NDArray, refused: str, units: int
) -> tuple[Reading, ...]:
    found, left = [], iter(p.tolist())
    for value, defined in zip(observed.tolist(), tested.tolist(), strict=True):
        share = next(left) if defined else 1.0
        if not defined:
            found.append(undefined(Status.NONFINITE, f"the observed statistic is {value}", n=units))
        elif refused:
            found.append(undefined(Status.N_TOO_SMALL, refused, n=units))
        else:
            found.append(Reading(share, n=units))
    return tuple(found)
