"""What every summary must keep: it speaks of a plain series, and of a poor one says why it does not."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from torch import Tensor

from ontogeny.catalogue import Course, Part, measuring_part
from ontogeny.catalogue.course import OFFERED
from ontogeny.measure.asked import Asked
from ontogeny.measure.reading_rows import Row, kept_rows
from ontogeny.measure.summaries import said
from ontogeny.store.arrays import array_hash
from ontogeny.store.rows import row_schema
from ontogeny.testing.tiny import TinyFacts, measured_on, tiny_stimulus, tiny_subject
from ontogeny.vocabulary import AXES, Status

STEPS = (0, 1, 2, 4, 8, 16)


def course_of(
    part: str,
    values: Any,
    steps: Sequence[int],
    axes: Sequence[str] = (),
    *,
    component: str = "",
    arrays: Sequence[Tensor] = (),
) -> Course:
    """A Course for a test: `values` [step, axis …] of one component, NaN where undefined; `arrays` one a
    step."""
    values = np.asarray(values, dtype=float)
    rows: list[Row] = []
    for index in np.ndindex(values.shape):
        value = float(values[index])
        fine = math.isfinite(value)
        place = dict(zip(axes, index[1:], strict=True))
        row = {"step": steps[index[0]], "component": component, **place, "value": value if fine else None}
        row |= {"status": str(Status.OK if fine else Status.NONFINITE), "reason": "" if fine else "made up"}
        rows.append(row | ({"array": array_hash(arrays[index[0]])} if len(arrays) else {}))
    held = {array_hash(array): array for array in arrays}
    return Course(part, table_of(part, rows), held.__getitem__)


def table_of(part: str, rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Rows as `Run.table` gives them: every column, integers that may be absent, empty text."""
    schema = row_schema()
    frame = pd.DataFrame(
        [{"part": part, "stimulus_name": "heldout", **row} for row in rows], columns=schema.names
    )
    for field in schema:
        if pa.types.is_string(field.type):
            absent = frame[field.name].astype(object).where(frame[field.name].notna(), None)
            frame[field.name] = absent if field.name in AXES else absent.fillna("")
        elif field.name in ("value", "low", "high"):
            frame[field.name] = frame[field.name].astype("float64")
        else:
            frame[field.name] = frame[field.name].astype("Int64")
    return frame


def tiny_inputs(made: Part, steps: Sequence[int] = STEPS) -> dict[str, Any]:
    """What a summary needs, of a tiny series: another random model at every step, telemetry that falls."""
    stimulus = next(iter(_stimuli(made)), "")
    metrics = made.options["telemetry"]
    every = np.arange(max(steps) * 40 + 1)
    falling = {name: 3.0 * np.exp(-every / 200.0) + 0.5 for name in metrics}
    given = {
        "facts": TinyFacts(),
        "stimulus": tiny_stimulus(stimulus) if stimulus else None,
        "telemetry": pd.DataFrame({"step": every, **falling}),
    }
    return {
        need: given[need] if need in OFFERED else _tiny_course(need, stimulus, steps) for need in made.needs
    }


def _stimuli(made: Part) -> list[str]:
    shared: list[str] | None = None
    for need in made.options["of"]:
        found = list(measuring_part(need).stimuli) or [""]
        shared = found if shared is None else [name for name in shared if name in found]
    return [name for name in shared or [] if not made.stimuli or name in made.stimuli]


def _tiny_course(name: str, stimulus: str, steps: Sequence[int]) -> Course:
    rows: list[Row] = []
    held: dict[str, Tensor] = {}
    for number, step in enumerate(steps):
        measured = measured_on(tiny_subject(init_scale=0.02 * (1 + number)), measuring_part(name))
        rows += [{**row, "step": step} for row in measured.rows if row["stimulus_name"] == stimulus]
        held |= measured.arrays
    return Course(name, table_of(name, rows), held.__getitem__)


def rows_said(made: Part, offered: Mapping[str, Any]) -> list[Row]:
    """The rows of a summary, of whatever it is given; its key is left out."""
    found = []
    for one in said(Asked(made), offered):
        rows, _ = kept_rows(made, one.component, one.place, one.reading)
        found += [{"step": one.step, **row} for row in rows]
    return found


def check_summary(made: Part) -> None:
    """It says something of a tiny series, in whatever order the rows come; of a series without numbers, and
    of a single checkpoint, it says at most why it cannot."""
    inputs = tiny_inputs(made)
    whole = rows_said(made, inputs)
    assert any(row["status"] == Status.OK for row in whole), f"{made.name} says nothing of a plain series"
    shuffled = {need: _shuffled(value) for need, value in inputs.items()}
    assert rows_said(made, shuffled) == whole, f"{made.name} depends on the order of rows"
    for poor in (_without_numbers(inputs), tiny_inputs(made, STEPS[:1])):
        for row in rows_said(made, poor):
            fine = row["value"] is not None and math.isfinite(row["value"])
            assert fine == (row["status"] == Status.OK) or row.get("array"), f"{made.name}: {row}"
            assert row["status"] != Status.FAILED, f"{made.name} raised: {row['reason']}"


def _shuffled(value: Any) -> Any:
    if not isinstance(value, Course):
        return value
    return Course(value.part, value.table.iloc[::-1].reset_index(drop=True), value.read)


def _without_numbers(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The same inputs, in which everything measured is NaN and one row of each part is left `ok`."""
    found: dict[str, Any] = {}
    for need, value in inputs.items():
        if isinstance(value, Course):
            table = value.table.copy()
            table["value"], table["status"] = math.nan, str(Status.NONFINITE)
            table.loc[table.index[:1], "status"] = str(Status.OK)
            table.loc[table.index[:1], "value"] = 1.0
            found[need] = Course(value.part, table, value.read)
        elif isinstance(value, pd.DataFrame):
            found[need] = value.assign(**{n: math.nan for n in value.columns if n != "step"})
        else:
            found[need] = value
    return found
