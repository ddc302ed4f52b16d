"""Telemetry as it is read: records by step, each with the metrics it happened to carry.

A metric that a record does not carry is absent, which is not the same as a metric that is NaN. Both forms of
a journal, framed and compacted, are read as pieces (consecutive records) that are joined here.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ontogeny.errors import UnknownName
from ontogeny.store.files import Damage

#: What a value may be: its code in a frame, and how numpy sees it there. "I" is the id of a string.
CODES = {"d": "<f8", "f": "<f4", "q": "<i8", "Q": "<u8", "?": "?", "I": "<u4"}

#: A metric as it is stored: its name and the code of its values. One name may occur with several codes.
Column = tuple[str, str]
#: Which records carry a column (ascending row numbers), and the values there.
Cells = tuple[NDArray[np.int64], NDArray[Any]]


@dataclass(frozen=True)
class Note:
    """An event between records: what kind, when (seconds since the attempt began), in which order."""

    kind: str
    sequence: int
    seconds: float
    data: Mapping[str, Any]


@dataclass
class Piece:
    """Consecutive records: their keys, and the cells of each column that occurs among them."""

    steps: NDArray[np.int64]
    seconds: NDArray[np.float64]
    sequences: NDArray[np.uint32]
    cells: dict[Column, list[Cells]] = field(default_factory=dict)


@dataclass(frozen=True)
class Journal:
    """One attempt's telemetry.

    `steps`, `seconds` (monotonic, since the attempt began) and `sequences` have one element a record, in the
    order of writing; `started` is the wall clock, in seconds since 1970, or NaN where its frame is lost.
    `names` are all metrics that occur, in order of first appearance, also those that were not asked for.
    `damage` lists what could not be read. `waiting` counts the bytes of a record at the end that is not
    whole: it is being written, or its writer was killed.
    """

    path: Path
    started: float
    columns: tuple[Column, ...]
    steps: NDArray[np.int64]
    seconds: NDArray[np.float64]
    sequences: NDArray[np.uint32]
    cells: Mapping[Column, Cells] = field(repr=False)
    notes: tuple[Note, ...]
    damage: tuple[Damage, ...]
    waiting: int

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for name, _ in self.columns))

    def column(self, name: str) -> Cells:
        """Row numbers of the records that carry `name`, and its values there, bit for bit.

        Values of one kind keep their dtype; f4 and f8 mixed give f8, signed and unsigned the one that holds
        both, any other mixture an object array. Raises UnknownName for a metric that was never recorded or
        not asked for.
        """
        parts = [self.cells[name, code] for code in CODES if (name, code) in self.cells]
        parts = [cells for cells in parts if len(cells[0])] or parts[:1]
        if not parts:
            raise UnknownName("metric of this journal", name, {metric for metric, _ in self.cells})
        if len(parts) == 1:
            return parts[0]
        rows = np.concatenate([rows for rows, _ in parts])
        order = np.argsort(rows, kind="stable")
        return rows[order], _mixed([values for _, values in parts])[order]

    def frame(self) -> pd.DataFrame:
        """One row a record: `step`, `seconds`, `sequence`, then the metrics that were read.

        Absent is NaN in a column of floats, so `column` is the way to tell it from a recorded NaN; elsewhere
        it is NA. A metric that bears the name of one of the three keys is found under `metric:<name>`.
        """
        series: dict[str, Any] = {"step": self.steps, "seconds": self.seconds, "sequence": self.sequences}
        read = dict.fromkeys(name for name, _ in self.cells)
        for name in read:
            label = name
            while label in series:
                label = f"metric:{label}"
            series[label] = _filled(*self.column(name), len(self))
        table = pd.DataFrame(dict(enumerate(series.values())))
        table.columns = pd.Index(list(series), dtype=object)  # pandas' own strings refuse some names
        return table


def join(
    path: Path,
    pieces: Iterable[Piece],
    columns: Collection[Column],
    names: Collection[str] | None,
    *,
    started: float,
    notes: Iterable[Note],
    damage: Iterable[Damage],
    waiting: int,
) -> Journal:
    """One journal of consecutive pieces, with the cells of `names` (None: of all metrics).

    For the sake of memory the pieces are emptied on the way, and columns that every record carries share
    their row numbers.
    """
    keys: list[list[NDArray[Any]]] = [[], [], []]
    gathered = {column: [no_cells(column)] for column in columns if names is None or column[0] in names}
    first = 0
    for piece in pieces:
        for key, part in zip(keys, (piece.steps, piece.seconds, piece.sequences), strict=True):
            key.append(part)
        moved = {id(rows): rows + first for parts in piece.cells.values() for rows, _ in parts}
        for column, parts in piece.cells.items():
            gathered[column].extend((moved[id(rows)], values) for rows, values in parts)
        piece.cells = {}
        first += len(piece.steps)
    steps, seconds, sequences = (
        np.concatenate([np.empty(0, dtype), *key])
        for key, dtype in zip(keys, ("<i8", "<f8", "<u4"), strict=True)
    )
    every = np.arange(len(steps))
    cells: dict[Column, Cells] = {}
    for column in tuple(gathered):
        rows, values = merged(gathered.pop(column))
        cells[column] = (every if len(rows) == len(every) else rows, values)
    return Journal(
        path, started, tuple(columns), steps, seconds, sequences, cells, tuple(notes), tuple(damage), waiting
    )


def no_cells(column: Column) -> Cells:
    dtype = object if column[1] == "I" else CODES[column[1]]
    return np.empty(0, np.int64), np.empty(0, dtype)


def merged(parts: list[Cells]) -> Cells:
    """The cells of one column from several schemas, by ascending row."""
    rows = np.concatenate([rows for rows, _ in parts])
    values = np.concatenate([values for _, values in parts])
    if len(parts) > 1 and np.any(rows[1:] < rows[:-1]):
        order = np.argsort(rows, kind="stable")
        return rows[order], values[order]
    return rows, values


def _mixed(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """Values of several dtypes in the narrowest array that changes none of them."""
    kinds = {part.dtype.kind for part in parts}
    if kinds == {"f"}:
        return np.concatenate([part.astype("<f8") for part in parts])
    if kinds == {"i", "u"}:
        signed = [part for part in parts if part.dtype.kind == "i"]
        if all(part.min(initial=0) >= 0 for part in signed):
            return np.concatenate([part.astype("<u8") for part in parts])
        if all(part.max(initial=0) < 1 << 63 for part in parts):
            return np.concatenate([part.astype("<i8") for part in parts])
    return np.concatenate([part.astype(object) for part in parts])


def _filled(rows: NDArray[np.int64], values: NDArray[Any], length: int) -> Any:
    """A column of full length for a data frame; absent elements are NaN, NA or None by dtype."""
    if values.dtype.kind == "O":
        full = np.full(length, None, object)
        full[rows] = values
        return pd.Series(full, dtype=object)
    if len(rows) == length:
        return values
    if values.dtype.kind == "f":
        full = np.full(length, np.nan, values.dtype)
        full[rows] = values
        return full
    full, absent = np.zeros(length, values.dtype), np.ones(length, bool)
    full[rows], absent[rows] = values, False
    masked = pd.arrays.BooleanArray if values.dtype.kind == "b" else pd.arrays.IntegerArray
    return masked(full, absent)
