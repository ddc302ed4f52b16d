"""Decoding of a framed journal: definitions are learned on the way, values are taken out in columns."""

import math
import os
import struct
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from ontogeny.errors import Damaged
from ontogeny.store.documents import parse_json
from ontogeny.store.files import Damage
from ontogeny.store.frames import FORMAT, HEADER_SIZE, LONGEST, Block, Kind, Scanner
from ontogeny.store.telemetry import CODES, Column, Journal, Note, Piece, join

#: How much of a journal is looked at together; memory beside the columns asked for is a few times this.
STRETCH = 8 << 20

_ID = struct.Struct("<I")
_SECONDS = struct.Struct("<d")
_KEYS = [
    ("magic", "<u4"),
    ("crc", "<u4"),
    ("length", "<u4"),
    ("sequence", "<u4"),
    ("schema", "<u4"),
    ("step", "<i8"),
    ("seconds", "<f8"),
]
RECORD = np.dtype(_KEYS)


@dataclass
class Definitions:
    """What frames other than records say. Each definition is written several times, so that one that is
    damaged where it stands first may still be met later; `unresolved` holds what a record needed before."""

    started: float = math.nan
    schemas: dict[int, tuple[Column, ...]] = field(default_factory=dict)
    strings: dict[int, str] = field(default_factory=dict)
    unresolved: set[tuple[str, int]] = field(default_factory=set)

    @property
    def columns(self) -> tuple[Column, ...]:
        return tuple(dict.fromkeys(column for schema in self.schemas.values() for column in schema))

    def resolves(self, missing: tuple[str, int]) -> bool:
        noun, number = missing
        return number in (self.schemas if noun == "schema" else self.strings)


class FramedReader:
    """Reads one framed journal, as a whole or piece by piece; `names` limits which metrics are decoded."""

    def __init__(self, path: Path, names: Collection[str] | None = None) -> None:
        self.path, self.names = path, names
        self.definitions = Definitions()
        self.notes: list[Note] = []
        self.damage: list[Damage] = []
        self.waiting = 0
        self.size = 0

    def read(self) -> Journal:
        """All records. A second look is taken where a definition was met only after it had been needed."""
        pieces = list(self.pieces())
        if any(map(self.definitions.resolves, self.definitions.unresolved)):
            pieces = list(self.pieces())
        lost = [
            Damage(
                self.path.name,
                0,
                0,
                f"no fitting definition of {noun} {number} is left: its values cannot be read",
            )
            for noun, number in sorted(self.definitions.unresolved)
        ]
        return join(
            self.path,
            pieces,
            self.definitions.columns,
            self.names,
            started=self.definitions.started,
            notes=self.notes,
            damage=[*self.damage, *lost],
            waiting=self.waiting,
        )

    def pieces(self, stretch: int | None = None) -> Iterator[Piece]:
        """Consecutive records, a stretch of the file at a time (of `STRETCH` bytes unless told)."""
        self.notes = []
        self.definitions.unresolved.clear()
        with open(self.path, "rb", buffering=0) as stream:
            self.size = os.fstat(stream.fileno()).st_size
            scanner = Scanner(stream, self.size, self.path.name, stretch or STRETCH)  # pyright: ignore[reportArgumentType]
            for block in scanner.blocks():
                for kind, sequence, payload in block.others:
                    self._learn(kind, sequence, payload)
                if block.records:
                    yield self._decode(block)
        self.damage, self.waiting = scanner.damage, scanner.waiting

    def _learn(self, kind: Kind, sequence: int, payload: bytes) -> None:
        if kind is Kind.HEADER:
            header = parse_json(payload, str(self.path))
            require_format(header["format"], self.path)
            self.definitions.started = header["started"]
        elif kind is Kind.SCHEMA:
            columns = parse_json(payload[_ID.size :], str(self.path))
            schema = tuple((name, code) for name, code in columns)
            if any(code not in CODES for _, code in schema):
                raise Damaged(
                    f"{self.path} has a kind of value that this version cannot read", received=schema
                )
            self.definitions.schemas[_ID.unpack_from(payload)[0]] = schema
        elif kind is Kind.STRING:
            text = payload[_ID.size :].decode("utf-8", "surrogatepass")
            self.definitions.strings[_ID.unpack_from(payload)[0]] = text
        elif kind is Kind.NOTE:
            event = parse_json(payload[_SECONDS.size :], str(self.path))
            seconds = _SECONDS.unpack_from(payload)[0]
            self.notes.append(Note(event["kind"], sequence, seconds, event["data"]))

    def _decode(self, block: Block) -> Piece:
        raw, offsets = np.frombuffer(block.buffer, np.uint8), np.array(block.records)
        offsets = offsets[offsets + RECORD.itemsize <= len(raw)]
        heads = rows_at(raw, offsets, RECORD)
        schemas, which = np.unique(heads["schema"], return_inverse=True)
        dtypes = [self._frame_dtype(int(schema)) for schema in schemas]
        sizes = np.array([0 if dtype is None else dtype.itemsize for dtype in dtypes])
        known = sizes[which] == (heads["length"] & LONGEST) + HEADER_SIZE
        heads, which, offsets = heads[known], which[known], offsets[known]
        piece = Piece(heads["step"].copy(), heads["seconds"].copy(), heads["sequence"].copy())
        for index, (schema, dtype) in enumerate(zip(schemas, dtypes, strict=True)):
            rows = np.flatnonzero(which == index)
            if dtype is not None and len(rows):
                self._take(
                    piece, rows, rows_at(raw, offsets[rows], dtype), self.definitions.schemas[int(schema)]
                )
        return piece

    def _frame_dtype(self, schema: int) -> np.dtype | None:
        """How a whole frame of this schema lies in the file; None while its definition is not known."""
        columns = self.definitions.schemas.get(schema)
        if columns is None:
            self.definitions.unresolved.add(("schema", schema))
            return None
        return np.dtype([*_KEYS, *((str(index), CODES[code]) for index, (_, code) in enumerate(columns))])

    def _take(self, piece: Piece, rows: NDArray, table: NDArray, columns: tuple[Column, ...]) -> None:
        for index, column in enumerate(columns):
            if self.names is None or column[0] in self.names:
                values = table[str(index)].copy()
                cells = self._texts(rows, values) if column[1] == "I" else (rows, values)
                piece.cells.setdefault(column, []).append(cells)

    def _texts(self, rows: NDArray, values: NDArray) -> tuple[NDArray, NDArray]:
        """Strings for their ids; a record whose string is not known goes without."""
        ids, which = np.unique(values, return_inverse=True)
        texts = np.empty(len(ids), object)
        for index, number in enumerate(ids.tolist()):
            texts[index] = self.definitions.strings.get(number)
            if texts[index] is None:
                self.definitions.unresolved.add(("string", number))
        found = texts[which]
        present = np.array([text is not None for text in texts], bool)[which]
        return rows[present], found[present]


def require_format(found: Any, path: Path) -> None:
    if found != FORMAT:
        raise Damaged(
            f"{path} has a format that this version cannot read",
            received=found,
            allowed=str(FORMAT),
            remedy="read it with the version of ontogeny that wrote it, or a later one",
        )


def rows_at(raw: NDArray[np.uint8], offsets: NDArray, dtype: np.dtype) -> NDArray:
    """The structures that begin at `offsets`, side by side in memory of their own."""
    return sliding_window_view(raw, dtype.itemsize)[offsets].view(dtype)[:, 0]
