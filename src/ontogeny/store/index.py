"""The index of a collection: a line for each run, kept so that 2,000 runs need not be read again.

It is derived from the runs and may be deleted. A line is used only while the files it was read from carry the
same times, sizes and inodes; it is never believed against the run. Damaged runs are read every time, so that
their damage is told every time.
"""

import json
import math
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import xxhash
from numpy.typing import NDArray

from ontogeny.errors import Damaged, DamageWarning, OntogenyError
from ontogeny.store.journal import read_journal
from ontogeny.store.rows import read_table, write_table
from ontogeny.store.run import MANIFEST, Run
from ontogeny.store.telemetry import Journal
from ontogeny.vocabulary import Verdict

INDEX = "index.parquet"
#: Raised with every change of what a line holds.
VERSION = 1
TRANSITIONS = "transitions.parquet"
LOSS, HELDOUT = "loss", "heldout_loss"
_SCHEMA = pa.schema([(name, pa.string()) for name in ("run", "stamp", "line")])

#: One run in a line: title, recipe (dotted keys), seed, steps, loss, heldout_loss, outcome, grade, formed.
Line = dict[str, Any]


def lines_of(home: Path, runs: Iterable[Run]) -> dict[str, Line]:
    """A line for every run; those whose files are unchanged come from the index, which is then renewed."""
    known = _read(home / INDEX)
    found, stamps, read = {}, {}, False
    for run in runs:
        stamps[run.name] = stamp_of(run.path)
        stamp, line = known.get(run.name, ("", {}))
        if not stamp or stamp != stamps[run.name]:
            line, read = line_of(Run.open(run.path)), True  # not as it was when the collection was opened
            stamps[run.name] = "" if line.pop("damaged") else stamps[run.name]
        found[run.name] = line
    if read or known.keys() != found.keys():
        _write(home / INDEX, stamps, found)
    return found


def stamp_of(path: Path) -> str:
    """A hash of names, times, sizes and inodes of all files that a line is read from."""
    files = [path / MANIFEST, path / TRANSITIONS, *sorted((path / "journal").glob("[0-9]*.*"))]
    seen = [str(VERSION)]
    for file in files:
        with suppress(FileNotFoundError):
            state = file.stat()
            seen.append(f"{file.name} {state.st_mtime_ns} {state.st_size} {state.st_ino}")
    return xxhash.xxh3_64_hexdigest("\n".join(seen).encode())


def line_of(run: Run) -> Line:
    """What one run says of itself; reads its telemetry and its transitions.

    `loss` is that of the last step, `heldout_loss` the lowest that is a number; None where there is none.
    Damage is left out with a DamageWarning, and tells in `damaged`.
    """
    journals = [read_journal(path, (LOSS, HELDOUT), salvage=True) for path in run.journals]
    damage = [str(one) for journal in journals for one in journal.damage]
    try:
        formed = _formed(run.path / TRANSITIONS)
    except Damaged as error:
        formed, damage = {}, [*damage, error.what]
    if damage:
        warnings.warn(f"{run.path}: {damage[0]}", DamageWarning, stacklevel=4)
    ends = [note.data["outcome"] for journal in journals for note in journal.notes if note.kind == "end"]
    steps, losses = _metric(run, journals, LOSS)
    heldout = _metric(run, journals, HELDOUT)[1]
    recipe = run.identity.get("recipe", {})
    return {
        "title": run.identity.get("title", ""),
        "recipe": dict(_dotted(recipe)),
        "seed": recipe.get("training", {}).get("seed"),
        "steps": int(steps[-1]) if len(steps) else None,
        LOSS: float(losses[-1]) if len(losses) else None,
        HELDOUT: min(heldout[~np.isnan(heldout)].tolist(), default=None),
        "outcome": ends[-1] if ends else "open",
        "grade": run.grade,
        "formed": formed,
        "damaged": bool(damage),
    }


def summary_of(lines: Mapping[str, Line]) -> pd.DataFrame:
    """Lines as a table; see `Runs.summary`."""
    settings = pd.DataFrame([line["recipe"] for line in lines.values()], dtype=object)
    varied = [key for key in settings if settings[key].map(json.dumps).nunique() > 1]
    formed = sorted({name for line in lines.values() for name in line["formed"]})
    head = pd.DataFrame({"run": list(lines), "title": [line["title"] for line in lines.values()]})
    shown = settings[[key for key in varied if key not in ("training.seed", *PROSE)]].infer_objects()
    tail = pd.DataFrame(
        [{name: line[name] for name in _TAIL} for line in lines.values()], columns=list(_TAIL)
    ).astype(_TAIL)
    steps = {
        f"formed/{name}": [line["formed"].get(name, np.nan) for line in lines.values()] for name in formed
    }
    return pd.concat([head, shown, tail, pd.DataFrame(steps, dtype="float64")], axis=1)


#: Said of a run to its reader; a run's own column tells the title.
PROSE = ("title", "expected")
_TAIL = {
    "seed": "Int64",
    "steps": "Int64",
    LOSS: "float64",
    HELDOUT: "float64",
    "outcome": "str",
    "grade": "str",
}


def _metric(run: Run, journals: list[Journal], name: str) -> tuple[NDArray, NDArray]:
    """Steps and values of a metric, each step once where attempts overlap."""
    if not any(name in journal.names for journal in journals):
        return np.empty(0), np.empty(0)
    if len(journals) == 1:
        rows, values = journals[0].column(name)
        return journals[0].steps[rows], values.astype("float64")
    frame = run.telemetry(name)
    return frame["step"].to_numpy(), frame[name].to_numpy("float64")


def _dotted(table: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """The values of nested tables under dotted keys; lists are values."""
    for key, value in table.items():
        if isinstance(value, Mapping) and value:
            yield from _dotted(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", value


def _formed(path: Path) -> dict[str, float]:
    """Steps of claimed transitions by `part:component@stimulus`; of several places, that of largest size.

    Without pandas, which takes longer over so short a table than the disk.
    """
    if not path.exists():
        return {}
    found = read_table(path, ["verdict", "size", "part", "component", "stimulus_name", "step"])
    claimed = [row for row in found.to_pylist() if row["verdict"] == Verdict.TRANSITION]
    claimed.sort(key=_magnitude)
    return {_label(row["part"], row["component"], row["stimulus_name"]): row["step"] for row in claimed}


def _magnitude(row: Mapping[str, Any]) -> float:
    """How large a transition is; one without a size is smaller than any."""
    size = row["size"]
    return -1.0 if size is None or math.isnan(size) else abs(size)


def _label(part: str, component: str, stimulus: str) -> str:
    return part + (f":{component}" if component else "") + (f"@{stimulus}" if stimulus else "")


def _read(path: Path) -> dict[str, tuple[str, Line]]:
    """Stamps and lines by run; nothing from an index that is missing, damaged or of another shape."""
    if not path.exists():
        return {}
    try:
        table = read_table(path)
        columns = [table[name].to_pylist() for name in _SCHEMA.names]
        return {run: (stamp, json.loads(line)) for run, stamp, line in zip(*columns, strict=True)}
    except (Damaged, KeyError, ValueError, TypeError):
        return {}


def _write(path: Path, stamps: Mapping[str, str], lines: Mapping[str, Line]) -> None:
    """Renew the index; a collection that cannot be written is read without one."""
    texts = [json.dumps(line) for line in lines.values()]
    columns = [list(lines), [stamps[run] for run in lines], texts]
    with suppress(OntogenyError):
        write_table(path, pa.Table.from_arrays(list(map(pa.array, columns)), schema=_SCHEMA))
