"""Transitions as a table: its columns, what is stored of it, which of it is worth telling."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import pandas as pd
import pyarrow as pa

from ontogeny.store.rows import read_table, write_table
from ontogeny.vocabulary import AXES, Transition, Verdict

TABLE = "transitions.parquet"
_NUMBERS = ("step", "low", "high", "level", "size", "width", "quiet_sd", "p", "q")
#: One row a located change. Files of earlier versions lack some; read, they are empty.
COLUMNS = {
    "part": "str",
    "component": "str",
    **{axis: "Int64" if kind is int else "str" for axis, kind in AXES.items()},
    **dict.fromkeys(("stimulus_name", "unit", "method", "settings", "null", "verdict", "kind"), "str"),
    **dict.fromkeys(_NUMBERS, "float64"),
    "reason": "str",
}
#: Sizes below these are not told, by unit: in units that end at 1, what moves by less is no finding.
LEAST: Mapping[str, float] = dict.fromkeys(
    ("attention", "share", "cosine", "correlation", "similarity"), 0.05
)

#: Least sizes by part or unit; one number for all; None for `LEAST`.
Least = float | Mapping[str, float] | None


def least_of(least: Least, part: str, unit: str) -> float:
    """The least size worth telling: what is said of the part, else of its unit, else 0."""
    if isinstance(least, int | float):
        return float(least)
    said = LEAST if least is None else {**LEAST, **least}
    return said.get(part, said.get(unit, 0.0))


def record(found: Transition) -> dict:
    """A transition as a row."""
    located = {"kind": "", **asdict(found.located)}
    located["verdict"] = str(located["verdict"])
    head = {"part": found.part, "component": found.component, **found.place}
    return {**head, "stimulus_name": found.stimulus, "unit": found.unit, "method": found.method, **located}


def as_table(rows: list[dict]) -> pd.DataFrame:
    """Rows as a table with all columns, each of its own type."""
    return _complete(pd.DataFrame(rows, columns=list(COLUMNS)))


def _complete(found: pd.DataFrame) -> pd.DataFrame:
    """All columns, each of its type; what an earlier version did not know is empty."""
    missing = {name: "" for name, kind in COLUMNS.items() if kind == "str" and name not in found}
    return found.assign(**missing).reindex(columns=list(COLUMNS)).astype(COLUMNS)


def read_transitions(home: Path) -> pd.DataFrame:
    """What is stored, whatever version wrote it; empty where nothing is."""
    path = home / TABLE
    return _complete(read_table(path).to_pandas()) if path.exists() else as_table([])


def write_transitions(home: Path, found: pd.DataFrame) -> None:
    """Store transitions in place of those that are there."""
    write_table(home / TABLE, pa.Table.from_pandas(found, preserve_index=False))


def claimed(table: pd.DataFrame, least: Least = None) -> pd.DataFrame:
    """Transitions that are claimed and worth telling, one a part and stimulus: that of the largest size.

    `least` is the size below which nothing is told (`LEAST` by unit if None; 0 tells everything).
    """
    if table.empty:
        return table
    found = table[table["verdict"] == str(Verdict.TRANSITION)]
    units = found["unit"] if "unit" in found else pd.Series("", found.index)
    bounds = [least_of(least, part, unit) for part, unit in zip(found["part"], units, strict=True)]
    found = found[found["size"].abs().fillna(0.0) >= bounds]
    order = found["size"].abs().sort_values(ascending=False).index
    best = found.loc[order].drop_duplicates(["part", "component", "stimulus_name"])
    return best.sort_values("step", ignore_index=True)
