"""A journal that is followed while it is written: each look takes in what was added, and nothing twice.

No lock is taken and nothing is written. What is kept of a record is where it lies, its step and its time;
values are fetched from the file for the metrics that are asked for.
"""

import os
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ontogeny.store.decoding import RECORD, STRETCH, FramedReader, rows_at
from ontogeny.store.frames import HEADER_SIZE, LONGEST, Block, Scanner

Steps = NDArray[np.int64]
Numbers = NDArray[np.float64]


class Growing:
    """A column that grows at its end without being copied each time; `held` is what it holds now."""

    def __init__(self, dtype: type) -> None:
        self._buffer, self._length = np.empty(0, dtype), 0

    def __len__(self) -> int:
        return self._length

    @property
    def held(self) -> NDArray:
        return self._buffer[: self._length]

    def extend(self, more: NDArray) -> None:
        length = self._length + len(more)
        if length > len(self._buffer):
            larger = np.empty(max(length, 2 * len(self._buffer)), self._buffer.dtype)
            larger[: self._length] = self.held
            self._buffer = larger
        self._buffer[self._length : length] = more
        self._length = length


class FollowedJournal(FramedReader):
    """One framed journal; `look` first, and again whenever the file may have grown.

    `steps` and `seconds` have one element a record, in the order of writing. `notes`, `damage` and `waiting`
    are those of a `Journal`.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._consumed = self._due = 0
        self._file: tuple[int, int] | None = None
        self._steps, self._seconds = Growing(np.int64), Growing(np.float64)
        self._offsets, self._schemas = Growing(np.int64), Growing(np.int64)
        self._kinds: dict[int, tuple[int, int]] = {}  # by schema: the last row that has it, and how many do

    def look(self) -> bool:
        """Take in what was added; whether what was known before still stands. It does not if the file was
        replaced or cut short: then it is read from its beginning. FileNotFoundError if there is none."""
        with open(self.path, "rb", buffering=0) as stream:
            state = os.fstat(stream.fileno())
            file = state.st_dev, state.st_ino
            same = self._file in (None, file) and state.st_size >= self._consumed
            if not same:
                self.__init__(self.path)
            if state.st_size != self.size or not same:
                self._file, self.size = file, state.st_size
                self._take_in(stream)  # pyright: ignore[reportArgumentType]
        return same

    def _take_in(self, stream: BinaryIO) -> None:
        stream.seek(self._consumed)
        left = self.size - self._consumed
        scanner = Scanner(stream, left, self.path.name, STRETCH, base=self._consumed, next=self._due)
        for block in scanner.blocks():
            for kind, sequence, payload in block.others:
                self._learn(kind, sequence, payload)
            if block.records:
                self._keep(block)
        self.damage.extend(scanner.damage)
        self.waiting, self._due = scanner.waiting, scanner.next
        self._consumed = self.size - self.waiting

    def _keep(self, block: Block) -> None:
        """Keep where the whole records of a stretch lie; one that does not fit its definition is left out."""
        raw, offsets = np.frombuffer(block.buffer, np.uint8), np.array(block.records)
        offsets = offsets[offsets + RECORD.itemsize <= len(raw)]
        heads = rows_at(raw, offsets, RECORD)
        lengths = (heads["length"] & LONGEST).astype(np.int64) + HEADER_SIZE
        fits = np.ones(len(heads), bool)
        for schema in np.unique(heads["schema"]).tolist():
            dtype, mine = self._frame_dtype(schema), heads["schema"] == schema
            if dtype is not None:
                fits[mine] = lengths[mine] == dtype.itemsize
            rows = np.flatnonzero((mine & fits)[fits])
            if len(rows):
                before = self._kinds.get(schema, (0, 0))[1]
                self._kinds[schema] = len(self._steps) + int(rows[-1]), before + len(rows)
        self._steps.extend(heads["step"][fits])
        self._seconds.extend(heads["seconds"][fits])
        self._offsets.extend(offsets[fits] + block.base)
        self._schemas.extend(heads["schema"][fits])

    @property
    def metrics(self) -> tuple[str, ...]:
        """All metrics that occur, in order of first appearance."""
        return tuple(dict.fromkeys(name for name, _ in self.definitions.columns))

    @property
    def steps(self) -> Steps:
        return self._steps.held

    @property
    def seconds(self) -> Numbers:
        return self._seconds.held

    def values(self, name: str, since: int = 0) -> tuple[Steps, Numbers]:
        """Row numbers of the records from `since` on that carry a metric, and its values as float64.

        Texts are no numbers and left out. Only the stretches of the file that hold such records are read.
        FileNotFoundError if the file is gone or was cut short since the last look.
        """
        offsets, schemas = self._offsets.held[since:], self._schemas.held[since:]
        rows, values = [np.empty(0, np.int64)], [np.empty(0, np.float64)]
        with open(self.path, "rb", buffering=0) as stream:
            for schema, columns in self.definitions.schemas.items():
                fields = [str(i) for i, (own, code) in enumerate(columns) if own == name and code != "I"]
                mine = np.flatnonzero(schemas == schema) if fields else rows[0]
                dtype = self._frame_dtype(schema)
                if len(mine) and dtype is not None:
                    rows.append(mine + since)
                    values.append(_field(stream.fileno(), offsets[mine], dtype, fields[0]))
        found, held = np.concatenate(rows), np.concatenate(values)
        if len(rows) > 2:
            order = np.argsort(found, kind="stable")
            return found[order], held[order]
        return found, held

    def counts(self) -> dict[str, int]:
        """How many records carry each metric."""
        found = dict.fromkeys(self.metrics, 0)
        for schema, (_, count) in self._kinds.items():
            for name in {name for name, _ in self.definitions.schemas.get(schema, ())}:
                found[name] += count
        return found

    def last(self) -> dict[str, float]:
        """The last number of each metric; one record of each kind is read."""
        found: dict[str, tuple[int, float]] = {}
        with open(self.path, "rb", buffering=0) as stream:
            for schema, (row, _) in self._kinds.items():
                dtype = self._frame_dtype(schema)
                data = b"" if dtype is None else self._record(stream.fileno(), row, dtype)
                if dtype is None or len(data) < dtype.itemsize:
                    continue
                record = np.frombuffer(data, dtype)[0]
                for index, (name, code) in enumerate(self.definitions.schemas[schema]):
                    if code != "I" and found.get(name, (-1, 0.0))[0] <= row:
                        found[name] = row, float(record[str(index)])
        return {name: value for name, (_, value) in found.items()}

    def _record(self, file: int, row: int, dtype: np.dtype) -> bytes:
        return os.pread(file, dtype.itemsize, int(self._offsets.held[row]))


def _field(file: int, offsets: Steps, dtype: np.dtype, field: str) -> Numbers:
    """One field of the frames at ascending offsets; the file is read in stretches."""
    places: dict[Any, Any] = dict(dtype.fields or {})
    kind, shift = places[field][:2]
    cell, found, first = np.dtype([("value", kind)]), np.empty(len(offsets)), 0
    while first < len(offsets):
        last = max(int(np.searchsorted(offsets, offsets[first] + STRETCH)), first + 1)
        start = int(offsets[first]) + shift
        length = int(offsets[last - 1]) + shift + kind.itemsize - start
        raw = np.frombuffer(os.pread(file, length, start), np.uint8)
        if len(raw) < length:
            raise FileNotFoundError("the journal was cut short while it was read")
        found[first:last] = rows_at(raw, offsets[first:last] + shift - start, cell)["value"]
        first = last
    return found
