"""What can be counted in training data: asked for by what is measured, counted once, kept by content."""

import io
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np
import xxhash
from numpy.typing import NDArray
from torch import Tensor

from ontogeny.numerics.continuations import Level, continuations
from ontogeny.numerics.kneser_ney import KneserNey
from ontogeny.numerics.neighbours import SIGNATURES, Neighbours, Ranked, neighbours
from ontogeny.store.files import write_file

#: Goes up when the same streams would be counted otherwise.
DEFINITION = 1
#: Tokens of context that n-gram models look back at most.
LONGEST = 4


class CorpusStatistics:
    """Counts over the training streams of a source.

    counts       how often each token occurs, int64 [vocabulary]
    vocabulary   ids are 0 … vocabulary − 1

    With a `folder` (that of a cached source), n-gram counts are kept there, named by a hash of the streams
    and of the rows that they were counted for, and neighbours by one of the streams; else both are counted
    once a process.
    """

    def __init__(
        self,
        streams: Sequence[NDArray[np.integer]],
        counts: NDArray[np.int64],
        content: str,
        folder: Path | None = None,
    ) -> None:
        self.streams, self.counts, self.content, self.folder = tuple(streams), counts, content, folder
        self.vocabulary = len(counts)
        self._ngrams: dict[str, KneserNey] = {}

    def ngrams(self, tokens: Tensor) -> KneserNey:
        """n-gram models of orders 1 … 5 of the training data, for contexts of rows [sequence position]."""
        rows = np.ascontiguousarray(tokens.cpu().numpy(), dtype=np.int64)
        state = xxhash.xxh3_128(f"{DEFINITION} {LONGEST} {self.content} {rows.shape}".encode())
        state.update(rows.data.cast("B") if rows.size else b"")
        key = state.hexdigest()
        if key not in self._ngrams:
            self._ngrams[key] = KneserNey(self._levels(rows, key), self.vocabulary)
        return self._ngrams[key]

    def _levels(self, rows: NDArray[np.int64], key: str) -> tuple[Level, ...]:
        kept = None if self.folder is None else self.folder / f"ngrams-{key}.npz"
        if kept is not None and (levels := _read(kept)) is not None:
            return levels
        levels = continuations(self.streams, rows, self.vocabulary, LONGEST)
        if kept is not None:
            named = [(at, one) for at, level in enumerate(levels) for one in level._asdict().items()]
            write_file(kept, _packed({f"{name}{at}": counts for at, (name, counts) in named}))
        return levels

    @cached_property
    def neighbours(self) -> Neighbours:
        """How alike the surroundings of the 2000 most frequent tokens are."""
        if self.folder is None:
            return neighbours(self.streams, self.counts)
        key = xxhash.xxh3_128_hexdigest(f"{DEFINITION} {self.content}".encode())
        kept = self.folder / f"neighbours-{key}.npz"
        with suppress(*_UNREADABLE), np.load(io.BytesIO(kept.read_bytes()), allow_pickle=False) as stored:
            alike = {name: Ranked(stored[name]) for name in SIGNATURES}
            return Neighbours(stored["token"], stored["chance"], alike)
        found = neighbours(self.streams, self.counts)
        cosines = {name: alike.values for name, alike in found.cosines.items()}
        write_file(kept, _packed({"token": found.token, "chance": found.chance, **cosines}))
        return found


#: What reading a kept table may raise that is not there, or damaged.
_UNREADABLE = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error)


def _packed(stored: Mapping[str, NDArray[Any]]) -> bytes:
    memory = io.BytesIO()
    np.savez_compressed(memory, allow_pickle=False, **stored)
    return memory.getvalue()


def _read(path: Path) -> tuple[Level, ...] | None:
    """What is kept; None if nothing is, or if it cannot be read: it will be counted again."""
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as stored:
            columns = [[stored[f"{name}{at}"] for name in Level._fields] for at in range(LONGEST + 1)]
    except _UNREADABLE:
        return None
    return tuple(Level(*cast(list[NDArray[np.int64]], column)) for column in columns)
