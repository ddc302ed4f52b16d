"""Arrangements as likely as the one observed, if there were nothing to find (STA-01)."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ontogeny.errors import BadArgument

#: Arrangements are enumerated up to this many; beyond, this many are looked at, the observed one among them.
MOST = 10_000
#: Rounding that is not to turn a p of exactly alpha away.
TIE = 1e-9


@dataclass(frozen=True)
class Arrangements:
    """What could have been observed, one a row; what was observed is the first.

    each      [arrangement, unit]: labels of units, or signs of pairs
    complete  whether these are all there are
    alike     how many of them no two-sided statistic can tell from the observed one
    signs     whether the units are pairs whose signs were flipped
    """

    each: NDArray
    complete: bool
    alike: int
    signs: bool = False

    def __len__(self) -> int:
        return len(self.each)

    def smallest_p(self, two_sided: bool = True) -> float:
        """The smallest p that these arrangements can give."""
        return (self.alike if self.complete and two_sided else 1) / len(self)

    def refusal(self, alpha: float, two_sided: bool = True) -> str:
        """Why p can never be as small as alpha, and what could; "" where it can."""
        least = self.smallest_p(two_sided)
        if least <= alpha + TIE:
            return ""
        if not self.complete:
            return f"{len(self) - 1:,} draws cannot go below p = {least:.3g}; {1 / alpha - 1:,.0f} can"
        count = self.each.shape[1]
        if self.signs:
            many = f"{count} pairs" if count != 1 else "1 pair"
            return (
                f"{many} cannot go below p = {least:.3g}; alpha {alpha:g} needs "
                f"{pairs_to_reach(alpha, two_sided)}"
            )
        sizes = np.unique(self.each[0], return_counts=True)[1]
        counted = " + ".join(map(str, sizes)) or "0"
        return (
            f"{counted} units cannot go below p = {least:.3g}; alpha {alpha:g} needs "
            f"{units_to_reach(alpha, two_sided)} in each of two arms"
        )


def label_arrangements(labels: NDArray | Sequence[Any], *, most: int = MOST, seed: int = 0) -> Arrangements:
    """Every way of giving the same labels [unit] to the same units, or `most` of them where there are more.

    Units must be exchangeable: runs (seed × configuration), never checkpoints, tokens or heads of one run.
    Known: 3 + 3 units -> 20 arrangements, smallest two-sided p 0.1; 4 + 4 -> 70, 0.029; 5 + 5 -> 252, 0.0079.
    """
    observed = np.asarray(labels)
    if observed.ndim != 1:
        raise BadArgument("labels are one a unit", received=f"shape {observed.shape}", allowed="[unit]")
    kinds, codes, sizes = np.unique(observed, return_inverse=True, return_counts=True)
    count = math.factorial(codes.size) // math.prod(math.factorial(int(size)) for size in sizes)
    if count <= most:
        rows = np.array(list(_orders(sizes.tolist())), dtype=np.intp).reshape(count, codes.size)
        same = int(np.flatnonzero((rows == codes).all(1))[0])
        rows[[0, same]] = rows[[same, 0]]
    else:
        rng = np.random.default_rng(seed)
        rows = rng.permuted(np.tile(codes, (most, 1)), axis=1)
        rows[0] = codes
    alike = math.prod(math.factorial(int(n)) for n in np.unique(sizes, return_counts=True)[1])
    return Arrangements(kinds[rows] if kinds.size else rows, count <= most, alike)


def sign_arrangements(pairs: int, *, most: int = MOST, seed: int = 0) -> Arrangements:
    """Signs [arrangement pair], all +1 in the first: under the null a pair is as likely the other way round.

    All 2^n up to 13 pairs, `most` beyond.
    """
    if 2**pairs <= most:
        each = 1.0 - 2.0 * ((np.arange(2**pairs)[:, None] >> np.arange(pairs)) & 1)
        return Arrangements(each, True, min(2, len(each)), signs=True)
    drawn = np.random.default_rng(seed).choice([-1.0, 1.0], (most, pairs))
    drawn[0] = 1
    return Arrangements(drawn, False, 2, signs=True)


def units_to_reach(alpha: float, two_sided: bool = True) -> int:
    """Fewest units in each of two arms whose smallest p is at most alpha. Known: 0.05 -> 4, 0.01 -> 5."""
    units = 1
    while (1 + two_sided) / math.comb(2 * units, units) > alpha + TIE:
        units += 1
    return units


def pairs_to_reach(alpha: float, two_sided: bool = True) -> int:
    """Fewest pairs whose smallest p is at most alpha. Known: 0.05 -> 6, 0.01 -> 8."""
    return max(1, math.ceil(two_sided - math.log2(alpha) - TIE))


def _orders(left: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Every distinct order of `left[k]` copies of each k."""
    if not any(left):
        yield ()
    for kind, copies in enumerate(left):
        if copies:
            fewer = [*left[:kind], copies - 1, *left[kind + 1 :]]
            yield from ((kind, *rest) for rest in _orders(fewer))
