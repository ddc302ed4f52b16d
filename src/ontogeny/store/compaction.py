"""Compaction: the journal of an attempt that has ended becomes one Parquet file, a third smaller or more.

One row a record; one column for each metric and kind of value, named by number, since a metric's name may be
anything. Names, notes and whatever else a reader needs are JSON in the file's metadata. Pages carry
checksums, the file a seal. Absent is null; NaN is NaN.
"""

import math
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from ontogeny.errors import Damaged, NotARun
from ontogeny.store.decoding import FramedReader, require_format
from ontogeny.store.documents import parse_sealed, sealed_bytes
from ontogeny.store.files import Damage, fsync_folder, named_errors, write_file
from ontogeny.store.frames import FORMAT
from ontogeny.store.seal import ALONE, UNSEALED, SealingSink, broken_seal
from ontogeny.store.telemetry import Cells, Column, Journal, Note, Piece, join, merged

_KEYS = {"step": pa.int64(), "seconds": pa.float64(), "sequence": pa.uint32()}
_TYPES = {
    "d": pa.float64(),
    "f": pa.float32(),
    "q": pa.int64(),
    "Q": pa.uint64(),
    "?": pa.bool_(),
    "I": pa.binary(),
}
_INTEGERS = {"step": "DELTA_BINARY_PACKED", "sequence": "DELTA_BINARY_PACKED"}
_ABOUT = b"ontogeny.journal"
_UNREADABLE = (OSError, ValueError, RuntimeError, pa.ArrowException)
#: Journal bytes that make one row group.
_GROUP = 32 << 20


def compact_journal(path: Path | str) -> Path:
    """Turn `<attempt>.journal` into `<attempt>.parquet`; returns the path of the form that remains.

    The Parquet file is durable, and has been read back equal in every bit, before the journal is removed: a
    crash at any point leaves a whole form. A journal with damage stays as it is, since what is broken may
    yet be recovered by hand; so does one that grows meanwhile. Calling it again finishes or changes nothing.
    Raises Damaged if the file does not read back equal, NotARun if there is neither form.
    """
    framed, compacted = Path(path).with_suffix(".journal"), Path(path).with_suffix(".parquet")
    if not framed.exists():
        return read_compacted(compacted, ()).path
    reader = FramedReader(framed, ())
    head = reader.read()
    if head.damage:
        return framed
    reader.names = None
    with named_errors(compacted):
        write_file(compacted, lambda file: _write(file, head, reader))
        try:
            _require_equal(compacted, reader)
        except BaseException:
            compacted.unlink()
            raise
        if framed.stat().st_size != reader.size:
            compacted.unlink()
            return framed
        framed.unlink()
        fsync_folder(framed.parent)
    return compacted


def read_compacted(path: Path, names: Collection[str] | None, *, salvage: bool = False) -> Journal:
    """Read a compacted journal; see `read_journal`."""
    if not path.exists():
        raise NotARun(f"there is no journal {path}", remedy="check the path")
    damage = broken_seal(path)
    if damage and not salvage:
        raise Damaged(
            str(damage[0]), remedy="restore the file from a copy, or read what is whole with salvage=True"
        )
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            about = parse_sealed((file.metadata.metadata or {})[_ABOUT], str(path))
            require_format(about["format"], path)
            columns = tuple((name, code) for name, code in about["columns"])
            pieces = list(_pieces(file, path.name, columns, names, damage))
    except (*_UNREADABLE, KeyError, Damaged) as error:
        if not salvage:
            raise Damaged(f"{path} cannot be read", received=str(error)[:200]) from error
        damage.append(
            Damage(path.name, 0, path.stat().st_size, "its metadata cannot be read: nothing is left")
        )
        about, columns, pieces = {"started": math.nan, "notes": [], "waiting": 0}, (), []
    notes = [Note(*note) for note in about["notes"]]
    return join(
        path,
        pieces,
        columns,
        names,
        started=about["started"],
        notes=notes,
        damage=damage,
        waiting=about["waiting"],
    )


def last_values(path: Path, names: Collection[str]) -> dict[str, float]:
    """The last number of each metric, from as few row groups as hold them; texts have none. Damaged if the
    file cannot be read."""
    found: dict[str, float] = {}
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            about = parse_sealed((file.metadata.metadata or {})[_ABOUT], str(path))
            numeric = ((_field(i), name) for i, (name, code) in enumerate(about["columns"]) if code != "I")
            held = {field: name for field, name in numeric if name in names}
            for group in reversed(range(file.num_row_groups)):
                left = [field for field, name in held.items() if name not in found]
                table = file.read_row_group(group, left, use_threads=False) if left else {}
                latest: dict[str, tuple[int, float]] = {}
                for field in left:
                    rows, values = _cells(table[field])
                    if len(rows):
                        cell = (int(rows[-1]), float(values[-1]))
                        latest[held[field]] = max(latest.get(held[field], (-1, 0.0)), cell)
                found |= {name: value for name, (_, value) in latest.items()}
    except (*_UNREADABLE, KeyError) as error:
        raise Damaged(f"{path} cannot be read", received=str(error)[:200]) from error
    return found


def _write(file: BinaryIO, head: Journal, reader: FramedReader) -> None:
    about = {
        "format": FORMAT,
        "columns": head.columns,
        "started": head.started,
        "waiting": head.waiting,
        "notes": [(note.kind, note.sequence, note.seconds, note.data) for note in head.notes],
    }
    fields = [(_field(index), _TYPES[code]) for index, (_, code) in enumerate(head.columns)]
    schema = pa.schema([*_KEYS.items(), *fields])
    floating = [field.name for field in schema if pa.types.is_floating(field.type)]
    texts = [field.name for field in schema if pa.types.is_binary(field.type)]
    sealing = SealingSink(file)
    writer = pq.ParquetWriter(
        pa.PythonFile(sealing, mode="w"),
        schema,
        compression="zstd",
        use_dictionary=texts,  # pyright: ignore[reportArgumentType]  # a list is allowed, see its documentation
        column_encoding={**dict.fromkeys(floating, "BYTE_STREAM_SPLIT"), **_INTEGERS},
        write_statistics=False,
        write_page_checksum=True,
        store_schema=False,
    )
    for piece in reader.pieces(_GROUP):
        writer.write_table(_table(piece, head.columns, schema), row_group_size=len(piece.steps))
    writer.add_key_value_metadata({_ABOUT: sealed_bytes(about), **UNSEALED})
    sealing.hold()
    writer.close()
    sealing.finish()


def _field(index: int) -> str:
    return f"m{index}"


def _table(piece: Piece, columns: tuple[Column, ...], schema: pa.Schema) -> pa.Table:
    """A piece as a table; the metrics that a record does not carry are null."""
    length = len(piece.steps)
    arrays = [pa.array(key) for key in (piece.steps, piece.seconds, piece.sequences)]
    for column, kind in zip(columns, schema.types[len(_KEYS) :], strict=True):
        if column not in piece.cells:
            arrays.append(pa.nulls(length, kind))
            continue
        rows, values = merged(piece.cells[column])
        if column[1] == "I":
            values = _encoded(values)
        full, absent = np.zeros(length, values.dtype), np.ones(length, bool)
        full[rows], absent[rows] = values, False
        arrays.append(pa.array(full, kind, mask=absent, from_pandas=False))
    return pa.Table.from_arrays(arrays, schema=schema)


def _encoded(texts: NDArray) -> NDArray:
    """Strings as bytes, lone surrogates included; each distinct string once."""
    known = {text: text.encode("utf-8", "surrogatepass") for text in set(texts)}
    encoded = np.empty(len(texts), object)
    encoded[:] = [known[text] for text in texts]
    return encoded


def _pieces(
    file: pq.ParquetFile,
    name: str,
    columns: tuple[Column, ...],
    names: Collection[str] | None,
    damage: list[Damage],
) -> Iterator[Piece]:
    """The row groups; in a file already known to be damaged, column by column, so that one loss is one."""
    wanted = {_field(i): column for i, column in enumerate(columns) if names is None or column[0] in names}
    for group in range(file.num_row_groups):
        fields = [*_KEYS, *wanted]
        if damage:
            fields = [field for field in fields if _readable(file, group, field, name, wanted, damage)]
        if set(_KEYS) <= set(fields):
            many = file.metadata.row_group(group).total_byte_size > ALONE
            table = file.read_row_group(group, fields, use_threads=many)
            piece = Piece(*(table[key].to_numpy() for key in _KEYS))
            for field in fields[len(_KEYS) :]:
                cells = _cells(table[field])
                if len(cells[0]):
                    piece.cells[wanted[field]] = [cells]
            yield piece


def _readable(
    file: pq.ParquetFile, group: int, field: str, name: str, wanted: dict[str, Column], damage: list[Damage]
) -> bool:
    """Whether the pages of one column match their checksums; otherwise the loss is written down."""
    try:
        if file.read_row_group(group, [field]).num_columns == 1:
            return True
        reason = "it is missing"
    except _UNREADABLE as error:
        reason = str(error)[:200]
    label = repr(wanted[field][0]) if field in wanted else field
    damage.append(Damage(name, 0, 0, f"{label} of row group {group} cannot be read: {reason}"))
    return False


def _cells(column: pa.ChunkedArray) -> Cells:
    array = column.combine_chunks()
    rows = np.flatnonzero(array.is_valid().to_numpy(zero_copy_only=False))
    present = array.drop_null()
    if not pa.types.is_binary(array.type):
        return rows, present.to_numpy(zero_copy_only=False)
    coded = present.dictionary_encode()
    texts = np.empty(len(coded.dictionary), object)
    texts[:] = [text.decode("utf-8", "surrogatepass") for text in coded.dictionary.to_pylist()]
    return rows, texts[coded.indices.to_numpy()]


def _require_equal(path: Path, reader: FramedReader) -> None:
    """Compare the file on disk with the journal, piece by piece, in every bit."""
    if broken_seal(path):
        raise Damaged(f"{path} did not reach the disk as it was written", remedy="look at the disk's health")
    columns = reader.definitions.columns
    with pq.ParquetFile(path, page_checksum_verification=True) as file:
        for before, after in zip(
            reader.pieces(_GROUP), _pieces(file, path.name, columns, None, []), strict=True
        ):
            if _bits(before) != _bits(after):
                raise Damaged(f"{path} does not read back equal", remedy="report this; the journal is kept")


def _bits(piece: Piece) -> list[Any]:
    keys = [key.tobytes() for key in (piece.steps, piece.seconds, piece.sequences)]
    cells = []
    for column in sorted(piece.cells):
        rows, values = merged(piece.cells[column])
        cells.append((column, rows.tobytes(), values.tolist() if column[1] == "I" else values.tobytes()))
    return [*keys, *cells]
