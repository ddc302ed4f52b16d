"""Anchored min-max buckets: a long series in at most a few hundred pieces, and no extreme lost.

A bucket's width is a power of two and its left edge a multiple of it, so edges stay where they are while a
series grows; when it outgrows the number of buckets allowed, neighbours merge in pairs. On a linear axis all
buckets are equally wide; on a step axis each octave is cut into equally many, so early steps keep detail.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ontogeny.errors import BadContract

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Spacing = Literal["linear", "step"]

#: Steps beyond this are not told apart by float64, which a reader's axis uses.
LARGEST_STEP = 2**52
#: An octave is never cut finer than this many pieces.
FINEST = 10


@dataclass(frozen=True)
class Buckets:
    """Half-open buckets [left, right) of steps. `low` and `high` are extremes of the finite values.

    `count` counts every point, `nonfinite` those that are NaN or infinite; a bucket without a finite value
    has NaN for `first`, `last`, `low`, `high`. Empty buckets are left out.
    """

    left: Ints
    right: Ints
    first: Floats
    low: Floats
    high: Floats
    last: Floats
    count: Ints
    nonfinite: Ints

    def __len__(self) -> int:
        return len(self.left)

    @property
    def centre(self) -> Floats:
        """The middle of the steps a bucket may hold; the step itself where it holds one."""
        return (self.left + self.right - 1) / 2

    def index(self, steps: ArrayLike) -> Ints:
        """Which bucket each step fell in (steps that were bucketed only)."""
        return np.searchsorted(self.left, np.asarray(steps), side="right") - 1


def _shifts(steps: Ints, level: int, spacing: Spacing) -> Ints:
    """The base-two logarithm of the width of the bucket around each step."""
    if spacing == "linear":
        return np.broadcast_to(np.int64(level), steps.shape)
    octave = np.frexp(steps.astype(np.float64))[1].astype(np.int64) - 1
    return np.maximum(octave - (FINEST - level), 0)


def _levels(spacing: Spacing) -> range:
    return range(53 if spacing == "linear" else FINEST + 1)


def _lefts(steps: Ints, level: int, spacing: Spacing) -> tuple[Ints, Ints]:
    shifts = _shifts(steps, level, spacing)
    return steps >> shifts << shifts, shifts


def _checked(steps: ArrayLike, values: ArrayLike) -> tuple[Ints, Floats]:
    x, y = np.asarray(steps, dtype=np.int64), np.asarray(values, dtype=np.float64)
    if x.shape != y.shape or x.ndim != 1:
        raise BadContract(
            "steps and values do not pair up", received=f"{x.shape}, {y.shape}", allowed="equal"
        )
    if x.size and (x.min() < 0 or x.max() > LARGEST_STEP):
        raise BadContract(
            "steps cannot be bucketed", received=f"{x.min()} to {x.max()}", allowed="0 to 2**52"
        )
    if (x[1:] >= x[:-1]).all():
        return x, y
    order = np.argsort(x, kind="stable")
    return x[order], y[order]


def buckets(
    steps: ArrayLike,
    values: ArrayLike,
    *,
    spacing: Spacing = "step",
    most: int = 300,
    level: int | None = None,
) -> Buckets:
    """At most `most` buckets of a series, in steps' order; `level` fixes their width instead.

    The level is the finest whose occupied buckets are few enough: it depends on the steps alone, so panels
    over the same steps share their edges. On the step spacing at least one bucket an octave remains, so
    `most` below 53 may be exceeded.

    Raises BadContract for negative steps or columns of unequal length.
    """
    x, y = _checked(steps, values)
    chosen, (left, shifts) = 0, (x, np.zeros_like(x))
    for chosen in _levels(spacing) if level is None else (level,):
        left, shifts = _lefts(x, chosen, spacing)
        if level is not None or 1 + np.count_nonzero(np.diff(left)) <= most:
            break
    starts = np.flatnonzero(np.diff(left, prepend=-1)) if x.size else np.zeros(0, dtype=np.int64)
    return _reduced(y, left[starts], np.int64(1) << shifts[starts], starts)


class CommonSteps:
    """The buckets of one level for columns at the same ascending steps; their edges are found once."""

    def __init__(self, steps: Ints, level: int, spacing: Spacing) -> None:
        self.steps = steps
        left, shifts = _lefts(steps, level, spacing)
        self._starts = (
            np.flatnonzero(np.diff(left, prepend=-1)) if len(steps) else np.zeros(0, dtype=np.int64)
        )
        self._left, self._width = left[self._starts], np.int64(1) << shifts[self._starts]

    def buckets(self, values: Floats) -> Buckets:
        """What `buckets` gives for these values."""
        return _reduced(values, self._left, self._width, self._starts)


def level_for(steps: Ints, spacing: Spacing, most: int, least: int = 0) -> int:
    """The finest level, from `least` up, at which ascending steps lie in at most `most` buckets; where none
    is, the coarsest. Every level's buckets are unions of the finer ones', so their number only falls."""
    levels = range(least, len(_levels(spacing)))
    few = lambda level: 1 + np.count_nonzero(np.diff(_lefts(steps, level, spacing)[0])) <= most
    return levels[min(bisect_left(levels, True, key=few), len(levels) - 1)]


def edges(step: int, level: int, spacing: Spacing) -> tuple[int, int]:
    """Left and right of the bucket that holds a step."""
    left, shift = _lefts(np.asarray([max(step, 0)], dtype=np.int64), level, spacing)
    return int(left[0]), int(left[0]) + (1 << int(shift[0]))


def joined(parts: Sequence[Buckets]) -> Buckets:
    """Buckets of consecutive stretches one after the other."""
    return Buckets(*(np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(Buckets)))


def merged(held: Buckets, level: int, spacing: Spacing) -> Buckets:
    """The same points in the buckets of a coarser level: what `buckets` gives for it, bit for bit."""
    left, shifts = _lefts(held.left, level, spacing)
    starts = np.flatnonzero(np.diff(left, prepend=-1)) if len(held) else np.zeros(0, dtype=np.int64)
    ends = np.append(starts[1:], len(held)) - 1
    if not len(starts):
        return held
    some = held.count > held.nonfinite
    position = np.arange(len(held))
    first = np.minimum.reduceat(np.where(some, position, len(held) - 1), starts)
    last = np.maximum.reduceat(np.where(some, position, 0), starts)
    return Buckets(
        left=left[starts],
        right=left[starts] + (np.int64(1) << shifts[starts]),
        first=held.first[np.minimum(first, ends)],
        low=np.fmin.reduceat(held.low, starts),
        high=np.fmax.reduceat(held.high, starts),
        last=held.last[np.maximum(last, starts)],
        count=np.add.reduceat(held.count, starts),
        nonfinite=np.add.reduceat(held.nonfinite, starts),
    )


def _reduced(y: Floats, left: Ints, width: Ints, starts: Ints) -> Buckets:
    finite = np.isfinite(y)
    ends = np.append(starts[1:], len(y))

    def over(ufunc: Any, column: Any) -> Any:
        return ufunc.reduceat(column, starts) if len(starts) else column[:0]

    if finite.all():  # nothing is left out: no column need be copied
        last = y[ends - 1] if len(starts) else y[:0]
        low, high = over(np.minimum, y), over(np.maximum, y)
        return Buckets(left, left + width, y[starts], low, high, last, ends - starts, np.zeros_like(starts))
    position = np.arange(len(y))
    first = over(np.minimum, np.where(finite, position, len(y)))
    last = over(np.maximum, np.where(finite, position, -1))
    some = last >= 0
    pick = lambda where: np.where(some, y[np.where(some, where, 0)], np.nan) if len(starts) else y[:0]
    low, high = over(np.minimum, np.where(finite, y, np.inf)), over(np.maximum, np.where(finite, y, -np.inf))
    return Buckets(
        left=left,
        right=left + width,
        first=pick(first),
        low=np.where(some, low, np.nan),
        high=np.where(some, high, np.nan),
        last=pick(last),
        count=ends - starts,
        nonfinite=over(np.add, (~finite).astype(np.int64)),
    )


def smoothed(steps: ArrayLike, values: ArrayLike, *, at: ArrayLike, window: float = 0.1) -> Floats:
    """The mean of the raw finite values within ± window/2 of each step in `at`, relative to the step.

    A window that grows with the step is a constant width on a step axis: step 10 is not averaged with step
    100. `steps` ascend. NaN where a window holds no finite value. Each window is summed by itself: running
    sums would carry one huge spike's rounding into every later mean.
    """
    x, y = np.asarray(steps, dtype=np.float64), np.asarray(values, dtype=np.float64)
    centre = np.asarray(at, dtype=np.float64)
    first = np.searchsorted(x, centre * (1 - window / 2), side="left")
    last = np.searchsorted(x, centre * (1 + window / 2), side="right")
    held = (y[start:end] for start, end in zip(first, last, strict=True))
    finite = (part[np.isfinite(part)] for part in held)
    return np.array([part.mean() if part.size else np.nan for part in finite], dtype=np.float64)
