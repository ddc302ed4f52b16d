"""Interpolated Kneser–Ney distributions over the next token, for the contexts of given rows."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ontogeny.numerics.continuations import Level

DISCOUNT = 0.75


class _Table(NamedTuple):
    """One length of context: entries as in Level, with what remains of their share after the discount.

    `key` is an entry's context times the vocabulary, plus its token; ascending.
    `raw` and `continued` are discounted shares of counts and of continuation counts; `raw_left` and
    `continued_left` [context] what they leave to the shorter context; `seen` [context] counts.
    """

    context: Tensor
    start: Tensor
    token: Tensor
    key: Tensor
    raw: Tensor
    raw_left: Tensor
    continued: Tensor
    continued_left: Tensor
    seen: Tensor

    def entries(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """For every entry of the contexts `ids`: the index into `ids`, and the entry's number."""
        first = self.start[ids]
        sizes = self.start[ids + 1] - first
        owner = torch.arange(len(ids)).repeat_interleave(sizes)
        ends = sizes.cumsum(0)
        return owner, torch.arange(len(owner)) + (first - ends + sizes).repeat_interleave(sizes)

    def shares(self, keys: Tensor) -> tuple[Tensor, Tensor]:
        """`raw` and `continued` of entries by their keys; 0 where there is no such entry."""
        at = torch.searchsorted(self.key, keys).clamp_max(len(self.key) - 1)
        there = self.key[at] == keys
        return self.raw[at] * there, self.continued[at] * there


class KneserNey:
    """n-gram models of orders 1 … of what `continuations` counted.

    p_n(w | h) = max(c(h w) − D, 0) / c(h) + D N(h ·) / c(h) · q_{n−1}(w | h'), h' without its first token;
    q has the same form with N(· h w), the number of different tokens before h w, in place of c(h w); below
    the unigram stands 1 / V. D = 0.75 (a discount is often estimated; it comes out near that).
    """

    def __init__(self, levels: Sequence[Level], vocabulary: int, discount: float = DISCOUNT) -> None:
        self.vocabulary, self.orders = vocabulary, len(levels)
        tables = [_table(level, vocabulary, discount) for level in levels]
        self._tables = [table for table in tables[1:] if len(table.key)]
        self._unigram = self._bottom(tables[0], tables[0].raw, tables[0].raw_left)
        self._continued = self._bottom(tables[0], tables[0].continued, tables[0].continued_left)

    def _bottom(self, table: _Table, shares: Tensor, left: Tensor) -> Tensor:
        whole = torch.full((self.vocabulary,), float(left[0]) / self.vocabulary)
        return whole.index_add_(0, table.token, shares)

    def each_order(self, places: Tensor, least: int = 1) -> Iterator[tuple[Tensor, Tensor]]:
        """For n = 1, 2, … the predictions whose context of n − 1 tokens was seen `least` times, as indices
        into `places`, and p_n there [those, vocabulary] in float32.

        `places` are flat indices into the rows [sequence × position]; the prediction is of the next token.
        """
        kept = torch.arange(len(places))
        chain = self._continued.expand(len(kept), -1)
        yield kept, self._unigram.expand(len(kept), -1)
        for table in self._tables:
            ids = table.context[places[kept]]
            fit = (ids >= 0) & (table.seen[ids] >= least)
            # index_select of whole rows is many times faster than indexing with a mask
            kept, ids, chain = kept[fit], ids[fit], chain.index_select(0, fit.nonzero().flatten())
            owner, entry = table.entries(ids)
            spots = owner * self.vocabulary + table.token[entry]
            yield kept, _mixed(chain, table.raw_left[ids], spots, table.raw[entry])
            chain = _mixed(chain, table.continued_left[ids], spots, table.continued[entry])

    def target_surprisal(self, places: Tensor, targets: Tensor) -> Tensor:
        """−ln of what the highest order whose context training shows at all gives each target."""
        found, chain = self._unigram[targets], self._continued[targets]
        for table in self._tables:
            ids = table.context[places]
            fit = (ids >= 0) & (table.seen[ids] > 0)
            raw, continued = table.shares(ids * self.vocabulary + targets)
            found = torch.where(fit, raw + table.raw_left[ids] * chain, found)
            chain = torch.where(fit, continued + table.continued_left[ids] * chain, chain)
        return -found.log()


def _mixed(chain: Tensor, left: Tensor, spots: Tensor, shares: Tensor) -> Tensor:
    lower = chain * left[:, None]
    lower.view(-1).index_add_(0, spots, shares)
    return lower


def _table(level: Level, vocabulary: int, discount: float) -> _Table:
    owner = np.repeat(np.arange(len(level.start) - 1), np.diff(level.start))
    raw, raw_left, seen = _discounted(level.times, owner, len(level.start) - 1, discount)
    continued, continued_left, _ = _discounted(level.preceded, owner, len(level.start) - 1, discount)
    return _Table(
        context=torch.from_numpy(level.context.reshape(-1)),
        start=torch.from_numpy(level.start),
        token=torch.from_numpy(level.token),
        key=torch.from_numpy(owner * vocabulary + level.token),
        raw=_single(raw),
        raw_left=_single(raw_left),
        continued=_single(continued),
        continued_left=_single(continued_left),
        seen=torch.from_numpy(seen),
    )


def _single(values: NDArray[np.float64]) -> Tensor:
    return torch.from_numpy(values.astype(np.float32))


def _discounted(
    counts: NDArray[np.int64], owner: NDArray[np.int64], contexts: int, discount: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Shares after the discount, what is left of each context's whole (all, where nothing was counted), and
    each context's count."""
    total = np.bincount(owner, weights=counts, minlength=contexts)
    kinds = np.bincount(owner, weights=counts > 0, minlength=contexts)
    counted = np.maximum(total, 1)
    left = np.where(total > 0, discount * kinds / counted, 1.0)
    return np.maximum(counts - discount, 0) / counted[owner], left, total.astype(np.int64)
