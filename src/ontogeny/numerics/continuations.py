"""What followed given contexts in streams of tokens: exact counts, and of these contexts alone.

Only contexts that a stimulus shows are ever asked for, so only these are counted: memory is bounded by what
followed them, not by the number of different n-grams of a corpus. Streams are read in pieces.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

#: Tokens of a stream looked at in one go.
PIECE = 1 << 22
Ids = NDArray[np.int64]


class Level(NamedTuple):
    """All contexts of one length that end at some position of the rows, and what followed them.

    context    which of them ends at each position [sequence position]; −1 where the row has fewer tokens
    start      where the entries of each begin [context + 1]
    token      entries: a token that followed the context,
    times      how often it did,
    preceded   and after how many different tokens the two of them stood
    """

    context: Ids
    start: Ids
    token: Ids
    times: Ids
    preceded: Ids


def continuations(
    streams: Sequence[NDArray[np.integer]], rows: Ids, vocabulary: int, longest: int = 4
) -> tuple[Level, ...]:
    """Levels for contexts of 0 … `longest` tokens of `rows` [sequence position], counted over all streams.

    No n-gram reaches from one stream into the next.
    """
    asked = _asked(rows, vocabulary, longest)
    followed, preceded = [_Tally() for _ in asked], [_Tally() for _ in asked]
    for stream in streams:
        for tokens, first in _pieces(stream, longest + 1):
            for length, found in enumerate(_matches(tokens, asked, vocabulary)):
                places = np.flatnonzero(found[first:] >= 0) + first
                keys = found[places] * vocabulary + tokens[places]
                followed[length].add(keys)
                known = places > length  # a stream's first context has no token before it
                before = tokens[places[known] - length - 1]
                preceded[length].add(keys[known] * vocabulary + before)
    return tuple(
        _level(context, len(keys), vocabulary, *tallies)
        for (keys, context), *tallies in zip(asked, followed, preceded, strict=True)
    )


def _asked(rows: Ids, vocabulary: int, longest: int) -> list[tuple[Ids, Ids]]:
    """For every length the contexts as sorted keys (number of the context without its last token, and that
    token), and the number of the one that ends at each position."""
    shorter = np.zeros_like(rows)
    found = [(np.zeros(1, np.int64), shorter)]
    for length in range(1, longest + 1):
        keys = np.full_like(rows, -1)
        before = np.zeros_like(rows) if length == 1 else _after_one(shorter)
        whole = before >= 0
        keys[whole] = before[whole] * vocabulary + rows[whole]
        different = np.unique(keys[whole])
        shorter = np.where(whole, np.searchsorted(different, keys), -1)
        found.append((different, shorter))
    return found


def _after_one(ids: Ids) -> Ids:
    """What stood one position earlier; −1 at the first."""
    return np.concatenate([np.full_like(ids[:, :1], -1), ids[:, :-1]], axis=1)


def _pieces(stream: NDArray[np.integer], overlap: int) -> Iterator[tuple[Ids, int]]:
    """Pieces with the tokens before them, and where what is new begins."""
    for start in range(0, len(stream), PIECE):
        first = min(overlap, start)
        yield stream[start - first : start + PIECE].astype(np.int64), first


def _matches(tokens: Ids, asked: Sequence[tuple[Ids, Ids]], vocabulary: int) -> Iterator[Ids]:
    """For every length, which asked context stands right before each token; −1 for none."""
    found = np.zeros(len(tokens), np.int64)
    yield found
    for keys, _ in asked[1:]:
        before, found = found, np.full(len(tokens), -1)
        places = np.flatnonzero(before[:-1] >= 0) + 1
        wanted = before[places - 1] * vocabulary + tokens[places - 1]
        if len(keys):
            at = np.searchsorted(keys, wanted).clip(max=len(keys) - 1)
            found[places] = np.where(keys[at] == wanted, at, -1)
        yield found


class _Tally:
    """How often each key was added, merged whenever much has come together."""

    def __init__(self) -> None:
        self.keys, self.counts = np.zeros(0, np.int64), np.zeros(0, np.int64)

    def add(self, keys: Ids) -> None:
        new, counts = np.unique(keys, return_counts=True)
        if not len(self.keys):
            self.keys, self.counts = new, counts
            return
        merged, inverse = np.unique(np.concatenate([self.keys, new]), return_inverse=True)
        total = np.zeros(len(merged), np.int64)
        np.add.at(total, inverse, np.concatenate([self.counts, counts]))
        self.keys, self.counts = merged, total


def _level(context: Ids, contexts: int, vocabulary: int, followed: _Tally, preceded: _Tally) -> Level:
    keys = followed.keys
    pairs, different = np.unique(preceded.keys // vocabulary, return_counts=True)
    before = np.zeros(len(keys), np.int64)
    before[np.searchsorted(keys, pairs)] = different
    start = np.searchsorted(keys // vocabulary, np.arange(contexts + 1))
    return Level(context, start, keys % vocabulary, followed.counts, before)
