"""Rows: one number each, with its key, its place and its status.

A measuring worker writes one file per checkpoint; `compact_rows` makes one file of many. Pages carry
checksums, and reading verifies them. What a crash left twice is one row when read.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ontogeny.errors import Damaged
from ontogeny.store.arrays import array_names
from ontogeny.store.files import Damage, write_file
from ontogeny.store.seal import ALONE, UNSEALED, SealingSink, broken_seal
from ontogeny.vocabulary import AXES, Status

#: How the files of `compact_rows` begin.
COMPACTED = "all-"
#: What tells whether something need be measured. Two checkpoints may hold the same weights: hence the step.
MEASURED = ("run", "step", "checkpoint", "part", "parameters", "stimulus", "reference")
_TEXT = pa.string()
_REFUSED = str(Status.OVER_BUDGET)
_BEFORE = {
    "run": _TEXT,
    "attempt": pa.int32(),
    "step": pa.int64(),
    "checkpoint": _TEXT,
    "part": _TEXT,
    "component": _TEXT,
    "version": pa.int32(),
    "parameters": _TEXT,
    "settings": _TEXT,
    "stimulus": _TEXT,
    "stimulus_name": _TEXT,
    "reference": _TEXT,
    "condition": _TEXT,
}
_AFTER = {
    "place_to": _TEXT,
    "value": pa.float64(),
    "low": pa.float64(),
    "high": pa.float64(),
    "n": pa.int64(),
    "status": _TEXT,
    "reason": _TEXT,
    "array": _TEXT,
    "fit": _TEXT,
}


def row_schema() -> pa.Schema:
    """Columns of a row file; one nullable column for every registered axis."""
    axes = {axis: pa.int64() if kind is int else _TEXT for axis, kind in AXES.items()}
    return pa.schema(list({**_BEFORE, **axes, **_AFTER}.items()))


#: Between the values of a fact that was not the same for all rows of a file.
EITHER = b" | "


def write_table(path: Path, table: pa.Table) -> None:
    """A sealed Parquet file with page checksums, written whole or not at all."""

    def write(file: BinaryIO) -> None:
        sealing = SealingSink(file)
        sink = pa.PythonFile(sealing, mode="w")
        writer = pq.ParquetWriter(sink, table.schema, compression="zstd", write_page_checksum=True)
        writer.write_table(table)
        writer.add_key_value_metadata(UNSEALED)
        sealing.hold()
        writer.close()
        sealing.finish()

    write_file(path, write)


def read_table(path: Path, columns: list[str] | None = None) -> pa.Table:
    """A sealed Parquet file, or some columns of it; Damaged if any byte of it is not what was written."""
    damage = broken_seal(path)
    if not damage:
        try:
            with pq.ParquetFile(path, page_checksum_verification=True) as file:
                return file.read(columns, use_threads=path.stat().st_size > ALONE)
        except (OSError, pa.ArrowException) as error:
            damage = [Damage(path.name, 0, path.stat().st_size, str(error).splitlines()[0])]
    raise Damaged(
        f"{path} cannot be trusted",
        received=damage[0].what,
        allowed="a Parquet file that matches its seal",
        remedy="delete this file and measure again; other files are untouched",
    )


def write_rows(home: Path, name: str, rows: Iterable[Mapping[str, Any]], facts: Mapping[str, str]) -> Path:
    """Write one file of rows under `home/rows`; `facts` (dtype, kernel, threads, versions) go in once."""
    schema = row_schema().with_metadata({k: str(v) for k, v in facts.items()})
    columns = {field.name: [row.get(field.name) for row in rows] for field in schema}
    path = home / "rows" / f"{name}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_table(path, pa.Table.from_pydict(columns, schema=schema))
    return path


def _files(home: Path) -> list[Path]:
    """Row files, those that were compacted first: of two rows with one key the later file's is kept."""
    found = (p for p in (home / "rows").glob("*.parquet") if not p.name.startswith("."))
    return sorted(found, key=lambda path: (not path.name.startswith(COMPACTED), path.name))


def _aligned(tables: list[pa.Table]) -> pa.Table:
    return pa.concat_tables([row_schema().empty_table(), *tables], promote_options="permissive")


def _distinct(table: pa.Table) -> pa.Table:
    """Every row once: of those with one key and place, the last. What was over budget once and was measured
    since is not spoken of any more."""
    identity = [name for name in table.column_names if name not in _AFTER or name == "place_to"]
    again = table.select(identity).to_pandas().duplicated(keep="last").to_numpy()
    refused = table["status"].to_pandas().eq(_REFUSED).to_numpy()
    if refused.any():
        keys = table.select(list(MEASURED)).to_pandas().fillna("").astype(str).agg("\0".join, axis=1)
        again = again | (refused & keys.isin(set(keys[~refused])).to_numpy())
    return table.filter(pa.array(~again))


def read_rows(
    home: Path, columns: list[str] | None = None, damage: list[Damage] | None = None
) -> pd.DataFrame:
    """All rows under `home`, each once, by step; absent text is empty, absent coordinates are <NA>.

    A damaged file raises Damaged, or is left out and added to `damage` if a list is given.
    """
    tables = [table for path in _files(home) if (table := _salvaged(path, damage)) is not None]
    table = _distinct(_aligned(tables)).replace_schema_metadata(None)
    frame = table.to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get)
    frame = frame.sort_values("step", kind="stable", ignore_index=True)
    texts = [name for name, kind in {**_BEFORE, **_AFTER}.items() if kind is _TEXT]
    frame = frame.fillna(dict.fromkeys(texts, ""))
    return frame if columns is None else frame[columns]


def _salvaged(path: Path, damage: list[Damage] | None) -> pa.Table | None:
    try:
        return read_table(path)
    except Damaged as error:
        if damage is None:
            raise
        damage.append(Damage(path.name, 0, 0, str(error.received)))
        return None


def measured_keys(home: Path) -> set[tuple[str, ...]]:
    """Values of `MEASURED`, as text, of everything already measured and, where it has arrays, complete.

    What was over budget was not measured.
    """
    found: set[tuple[str, ...]] = set()
    lost: set[tuple[str, ...]] = set()
    arrays = array_names(home)
    for path in _files(home):
        table = read_table(path)
        table = table.filter(pc.field("status") != _REFUSED)
        distinct = table.select([*MEASURED, "array"]).group_by([*MEASURED, "array"]).aggregate([])
        for *key, array in zip(*distinct.to_pydict().values(), strict=True):
            whole = array is None or array in arrays
            (found if whole else lost).add(tuple("" if value is None else str(value) for value in key))
    return found - lost


def refused_keys(home: Path) -> set[tuple[str, ...]]:
    """Values of `MEASURED`, as text, of everything that was over budget."""
    found: set[tuple[str, ...]] = set()
    for path in _files(home):
        table = read_table(path)
        table = table.filter(pc.field("status") == _REFUSED).select(list(MEASURED))
        found |= {tuple("" if v is None else str(v) for v in row.values()) for row in table.to_pylist()}
    return found


def _facts_of(tables: Sequence[pa.Table]) -> dict[bytes, bytes]:
    """Facts of several files of rows: all values that one of them has in any, but only the last command."""
    found: dict[bytes, list[bytes]] = {}
    for table in tables:
        for name, value in (table.schema.metadata or {}).items():
            known = found.setdefault(name, [])
            known += [one for one in value.split(EITHER) if one not in known]
    last = tables[-1].schema.metadata or {}
    alone = (b"command", *UNSEALED)
    return {n: last.get(n, v[-1]) if n in alone else EITHER.join(v) for n, v in found.items()}


def compact_rows(home: Path) -> None:
    """Make one file of all row files, each row once; the old ones go only after the new one is durable."""
    files = _files(home)
    if len(files) < 2:
        return
    tables = [read_table(path) for path in files]
    merged = _distinct(_aligned(tables)).replace_schema_metadata(_facts_of(tables))
    number = 1 + max((int(p.stem[4:]) for p in files if p.stem.startswith(COMPACTED)), default=-1)
    write_table(home / "rows" / f"{COMPACTED}{number:04d}.parquet", merged)
    for path in files:
        path.unlink()


def verify_rows(home: Path) -> list[Damage]:
    """Row files whose bytes do not match their checksums."""
    damage = []
    for path in _files(home):
        try:
            read_table(path)
        except Damaged as error:
            size = path.stat().st_size
            damage.append(Damage(str(path.relative_to(home)), 0, size, str(error.received)))
    return damage
