"""A long strand at every zoom: buckets of its finest useful level are made once and extended as it grows.

Coarser answers are merged from these; finer ones are made from the few raw points they need. Edges are
anchored, so nothing that was answered moves when points are added.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ontogeny.dashboard.strands import Strand
from ontogeny.views.buckets import Buckets, CommonSteps, Spacing, buckets, edges, joined, level_for, merged

#: Points beyond which buckets are kept.
LONG = 100_000
#: How many buckets are kept at most; twice as many are tolerated while a strand grows.
KEPT = 1 << 15


class Pyramid:
    """One strand on one spacing. `base` are the buckets kept, if it is long."""

    def __init__(self, strand: Strand, spacing: Spacing, base: tuple[int, Buckets] | None = None) -> None:
        self.strand: Strand = strand
        self.spacing: Spacing = spacing
        self.level, self.base = base or (0, None)
        if base is None and len(strand) > LONG:
            self.level = 0 if spacing == "step" else level_for(strand.x, spacing, KEPT)
            self.base = buckets(strand.x, strand.y, spacing=spacing, level=self.level)

    def grown(self, strand: Strand) -> "Pyramid":
        """The pyramid of a strand that has this one's points and then more."""
        if self.base is None or not len(self.base):
            return Pyramid(strand, self.spacing)
        if len(strand) == len(self.strand):
            return Pyramid(strand, self.spacing, (self.level, self.base))
        start = int(np.searchsorted(strand.x, self.base.left[-1]))
        more = buckets(strand.x[start:], strand.y[start:], spacing=self.spacing, level=self.level)
        base, level = joined([_cut(self.base, slice(0, -1)), more]), self.level
        if self.spacing == "linear" and len(base) > 2 * KEPT:
            level = level_for(base.left, self.spacing, KEPT, level)
            base = merged(base, level, self.spacing)
        return Pyramid(strand, self.spacing, (level, base))

    def level_within(self, first: int, last: int, most: int) -> int:
        """The finest level at which the points from first to last lie in at most so many buckets."""
        return level_within([self], first, last, most)

    def within(self, first: int, last: int, level: int) -> Buckets:
        """The buckets of a level that hold points from first to last; each with all of its points."""
        return within([self], first, last, level)[0]

    def occupied(self, first: int, last: int, most: int) -> tuple[NDArray[Any], int]:
        """What tells how many buckets hold points from first to last, and the least level it tells it of."""
        if self.base is not None:
            held = self.base.left[_span(self.base.left, self.base.right, first, last)]
            if len(held) > most:
                return held, self.level
        x = self.strand.x
        return x[np.searchsorted(x, first) : np.searchsorted(x, last, side="right")], 0


def level_within(pyramids: Sequence[Pyramid], first: int, last: int, most: int) -> int:
    """The finest level that is coarse enough for every one of pyramids of one spacing; 0 for none."""
    level, before = 0, None
    for pyramid in pyramids:
        held, least = pyramid.occupied(first, last, most)
        if before is None or least or not np.array_equal(held, before):  # at equal x the level is the same
            level, before = max(level, level_for(held, pyramid.spacing, most, least)), held
    return level


def within(pyramids: Sequence[Pyramid], first: int, last: int, level: int) -> list[Buckets]:
    """`Pyramid.within` of each of one spacing; where they have points at equal x, edges are found once."""
    found: list[Buckets] = []
    alike: CommonSteps | None = None
    spacing = pyramids[0].spacing if pyramids else "linear"
    start, end = edges(first, level, spacing)[0], edges(last, level, spacing)[1] - 1
    for pyramid in pyramids:
        if pyramid.base is not None and level >= pyramid.level:
            held = _cut(pyramid.base, _span(pyramid.base.left, pyramid.base.right, start, end))
            found.append(merged(held, level, spacing))
            continue
        x, y = pyramid.strand.x, pyramid.strand.y
        span = slice(np.searchsorted(x, start), np.searchsorted(x, end, side="right"))
        if alike is None or not np.array_equal(alike.steps, x[span]):
            alike = CommonSteps(x[span], level, spacing)
        found.append(alike.buckets(y[span]))
    return found


def _span(left: NDArray[Any], right: NDArray[Any], first: int, last: int) -> slice:
    """The buckets that reach into [first, last]."""
    return slice(
        int(np.searchsorted(right, first, side="right")), int(np.searchsorted(left, last, side="right"))
    )


def _cut(held: Buckets, span: slice) -> Buckets:
    return Buckets(*(getattr(held, name)[span] for name in held.__dataclass_fields__))


def window_means(strand: Strand, low: NDArray[Any], high: NDArray[Any]) -> NDArray[np.float64]:
    """The mean of the finite values in each window low ≤ x ≤ high; NaN where there is none.

    Long windows are summed from sums of blocks. Nothing is subtracted, so one huge value leaves no rounding
    in windows that do not hold it.
    """
    first, last = np.searchsorted(strand.x, low), np.searchsorted(strand.x, high, side="right")
    if not len(first):
        return np.zeros(0)
    start, end = int(first.min()), int(last.max())
    values = strand.y[start:end]
    finite = np.isfinite(values)
    sums, counts = _Blocks(np.where(finite, values, 0.0)), _Blocks(finite.astype(np.float64))
    found = np.full(len(first), np.nan)
    with np.errstate(over="ignore"):
        for index, (a, b) in enumerate(zip((first - start).tolist(), (last - start).tolist(), strict=True)):
            if b > a and (count := counts.total(a, b)):
                found[index] = sums.total(a, b) / count
    return found


class _Blocks:
    """Sums over any stretch of a column, from sums of blocks and what is left at both ends."""

    SIZE = 1024

    def __init__(self, column: NDArray[np.float64]) -> None:
        self.column = column
        starts = np.arange(0, len(column), self.SIZE)
        with np.errstate(over="ignore"):
            self.sums = np.add.reduceat(column, starts) if len(column) else column

    def total(self, first: int, last: int) -> float:
        a, b = -(-first // self.SIZE), last // self.SIZE
        if b <= a:
            return float(self.column[first:last].sum())
        ends = self.column[first : a * self.SIZE].sum() + self.column[b * self.SIZE : last].sum()
        return float(ends + self.sums[a:b].sum())
