"""One attempt's telemetry as a server reads it: columns by name, followed as they grow.

Reading takes no lock and writes nothing. A journal that is compacted, cut short or gone while it is read
gives what can be read of it; what cannot is counted as damage.
"""

import contextlib
import math
import os
import threading
from collections import OrderedDict
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ontogeny.errors import OntogenyError
from ontogeny.store.compaction import last_values
from ontogeny.store.files import Damage
from ontogeny.store.following import FollowedJournal, Growing
from ontogeny.store.journal import read_journal
from ontogeny.store.telemetry import Journal, Note

Steps = NDArray[np.int64]
Numbers = NDArray[np.float64]
Column = tuple[Growing, Growing]

#: Bytes of columns that are kept in memory, over all runs.
ROOM = 512 << 20


class Memory:
    """Columns that were read, the longest unused forgotten first when there are too many."""

    def __init__(self, room: int = ROOM) -> None:
        self.room, self._used = room, 0
        self._columns = OrderedDict[Any, tuple[Column, int]]()
        self._lock = threading.Lock()

    def get(self, key: Any) -> Column | None:
        with self._lock:
            if key not in self._columns:
                return None
            self._columns.move_to_end(key)
            return self._columns[key][0]

    def put(self, key: Any, column: Column) -> None:
        size = 8 * (len(column[0]) + len(column[1]))
        with self._lock:
            self._used += size - self._columns.pop(key, (column, 0))[1]
            self._columns[key] = column, size
            while self._used > self.room and len(self._columns) > 1:
                self._used -= self._columns.popitem(last=False)[1][1]

    def drop(self, owner: Any) -> None:
        """Forget all columns of one journal."""
        with self._lock:
            for key in [key for key in self._columns if key[0] == owner]:
                self._used -= self._columns.pop(key)[1]


class Attempt:
    """The journal of one attempt, framed or compacted; `look` takes in what changed."""

    def __init__(self, path: Path, memory: Memory) -> None:
        self.path, self._memory = path.with_suffix(".journal"), memory
        self._followed: FollowedJournal | None = None
        self._compacted: Journal | None = None
        self.stamp: tuple[int, ...] = ()  #: of the journal at the last look
        self.replaced = 0  #: how often what was known before did not stand any more
        self._lost: list[Damage] = []

    def look(self) -> bool:
        """Take in what was added; whether anything is new."""
        stamp = stamp_of(self.path)
        if stamp == self.stamp:
            return False
        try:
            same = self._open()
        except (OntogenyError, OSError) as error:  # replaced or damaged this moment: what was known stays
            self._lost = [Damage(self.path.name, 0, 0, str(error).splitlines()[0])]
            same = True
        if not same:
            self._memory.drop(self.path)
            self.replaced += 1
        self.stamp = stamp
        return True

    def _open(self) -> bool:
        try:
            self._followed = self._followed or FollowedJournal(self.path)
            same, self._compacted = self._followed.look(), None
            return same
        except FileNotFoundError:
            self._followed, self._compacted = None, read_journal(self.path, (), salvage=True)
            return False

    @property
    def steps(self) -> Steps:
        held = self._followed or self._compacted
        return held.steps if held is not None else np.empty(0, np.int64)

    @property
    def seconds(self) -> Numbers:
        held = self._followed or self._compacted
        return held.seconds if held is not None else np.empty(0)

    @property
    def metrics(self) -> tuple[str, ...]:
        if self._followed is not None:
            return self._followed.metrics
        return self._compacted.names if self._compacted is not None else ()

    @property
    def notes(self) -> Sequence[Note]:
        held = self._followed or self._compacted
        return held.notes if held is not None else ()

    @property
    def damage(self) -> list[Damage]:
        held = self._followed or self._compacted
        return [*(held.damage if held is not None else ()), *self._lost]

    @property
    def taken_up(self) -> float:
        """The step at which it took up the run; infinite where it recorded nothing."""
        if not len(self.steps):
            return math.inf
        begins = [note.data["step"] for note in self.notes if note.kind == "begin" and "step" in note.data]
        return begins[0] if begins else int(self.steps.min())

    @property
    def outcome(self) -> str:
        """What its end says; empty while there is none."""
        ends = [str(note.data.get("outcome", "")) for note in self.notes if note.kind == "end"]
        return ends[-1] if ends else ""

    def values(self, name: str) -> tuple[Steps, Numbers]:
        """Row numbers of the records that carry a metric, and its values; empty where it has none."""
        if name not in self.metrics:
            return np.empty(0, np.int64), np.empty(0)
        if self._followed is None:
            return self._compacted_values((name,))[name]
        column = self._memory.get((self.path, name)) or (Growing(np.int64), Growing(np.float64))
        rows = column[0].held
        since = int(rows[-1]) + 1 if len(rows) else 0
        if since < len(self.steps):
            with contextlib.suppress(OSError):  # gone this moment; the next look says so
                _add(column, self._followed.values(name, since))
        self._memory.put((self.path, name), column)
        return column[0].held, column[1].held

    def _compacted_values(self, names: Collection[str]) -> dict[str, tuple[Steps, Numbers]]:
        """Several metrics of a compacted journal, those that are not in memory in one reading."""
        held = {name: self._memory.get((self.path, name)) for name in names if name in self.metrics}
        missing = [name for name, column in held.items() if column is None]
        journal = None
        if missing:
            with contextlib.suppress(OntogenyError, OSError):
                journal = read_journal(self.path, missing, salvage=True)
        for name in missing:
            held[name] = column = Growing(np.int64), Growing(np.float64)
            if journal is not None:
                _add(column, _plain(*journal.column(name)))
                self._memory.put((self.path, name), column)
        return {name: (column[0].held, column[1].held) for name, column in held.items() if column}

    def last(self, names: Collection[str]) -> dict[str, float]:
        """The last number of each metric, without reading the others."""
        with contextlib.suppress(OntogenyError, OSError):
            if self._followed is not None:
                found = self._followed.last()
                return {name: found[name] for name in names if name in found}
            if self._compacted is not None and not self._compacted.damage:
                return last_values(self.path.with_suffix(".parquet"), names)
        held = {name: self.values(name)[1] for name in names}
        return {name: float(values[-1]) for name, values in held.items() if len(values)}

    def counts(self, names: Collection[str]) -> dict[str, int]:
        """How many records carry each metric."""
        if self._followed is not None:
            found = self._followed.counts()
            return {name: found.get(name, 0) for name in names}
        return {name: len(rows) for name, (rows, _) in self._compacted_values(names).items()}


def _add(column: Column, more: tuple[Steps, Numbers]) -> None:
    for own, added in zip(column, more, strict=True):
        own.extend(added)


def _plain(rows: Steps, values: NDArray) -> tuple[Steps, Numbers]:
    """Values as float64; texts among them are left out."""
    if values.dtype.kind != "O":
        return rows, values.astype(np.float64)
    numeric = np.array([not isinstance(value, str) for value in values], bool)
    return rows[numeric], values[numeric].astype(np.float64)


def stamp_of(path: Path) -> tuple[int, ...]:
    """What changes whenever a journal does, whichever form it has; empty if it has none."""
    stem = os.fspath(path).removesuffix(path.suffix)
    for form in (".journal", ".parquet"):
        with contextlib.suppress(OSError):
            state = os.stat(stem + form)
            return state.st_ino, state.st_size, state.st_mtime_ns
    return ()
