"""Reading the tables views are given: places in words, series of one place, claimed transitions as rules."""

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ontogeny.views.figure import Panel, Rail, Rule, Text, Ticks, numbers
from ontogeny.vocabulary import AXES

#: What tells two series of one part apart, before any place.
VARIANT = ("component", "stimulus_name", "condition")
#: Components that stand for the part itself.
PLAIN = ("", "value")


def column(table: pd.DataFrame, name: str) -> NDArray[np.float64]:
    """A column as float64, NaN for what is missing; all NaN if the table has no such column."""
    if name not in table:
        return np.full(len(table), np.nan)
    return pd.to_numeric(table[name], errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)


def has(table: pd.DataFrame, name: str) -> bool:
    """Whether the column is there and holds anything."""
    return name in table and bool(table[name].notna().any())


def words(name: str) -> str:
    """A part's name as words."""
    return name.replace("_", " ")


def place_words(row: Any) -> str:
    """The place of a row (anything with `get`) in words, e.g. `layer 1 head 6`; `whole model` if nowhere."""
    said = [(axis, row.get(axis)) for axis in AXES]
    return " ".join(f"{axis} {_plain(value)}" for axis, value in said if not _missing(value)) or "whole model"


def short_place(row: Any) -> str:
    """The place in the fewest letters, for labels in a plot: `L1 H6`."""
    found = place_words(row).replace("layer ", "L").replace("head ", "H").replace("matrix ", "")
    return "" if found == "whole model" else found


def _missing(value: Any) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and bool(np.isnan(value)))


def _plain(value: Any) -> str:
    return str(int(value)) if isinstance(value, float | np.floating | np.integer) else str(value)


def text_of(row: Any, name: str) -> str:
    """A text cell; empty where it is missing."""
    value = row.get(name)
    return "" if _missing(value) else str(value)


def variants(rows: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """The series of one part that differ in more than the place, each with the words that tell it apart.

    A part's own number (the nameless component) stands for it; a part without one shows every component.
    Components that stand for a null are left out: they belong to the others (`null_of`). A place measured
    twice at one step, under another version or reference, counts as it was measured last.
    """
    measured = rows[~_is_null(rows)].reset_index(drop=True)
    filled = measured.assign(**{key: _texts(measured, key) for key in VARIANT})
    own = filled["component"].isin(PLAIN)
    filled = filled[own] if own.any() else filled
    places = [axis for axis in ("step", *AXES, *VARIANT) if axis in filled]
    filled = filled.drop_duplicates(places, keep="last")
    varying = [key for key in VARIANT if filled[key].nunique() > 1]
    if not varying:
        yield "", measured.loc[filled.index]
        return
    for values, group in filled.groupby(varying, sort=True):
        yield " · ".join(words(str(value)) for value in values if value), measured.loc[group.index]


def _texts(rows: pd.DataFrame, name: str) -> pd.Series:
    """A text column without missing values; empty texts if there is no such column."""
    if name not in rows:
        return pd.Series("", index=rows.index, dtype="string")
    return rows[name].astype("string").fillna("")


def _is_null(rows: pd.DataFrame) -> pd.Series:
    return _texts(rows, "component").str.startswith("null").astype(bool)


def null_of(rows: pd.DataFrame, measured: pd.DataFrame) -> pd.DataFrame:
    """Rows of a part's null (components starting with `null`) under the conditions of `measured`."""
    null = rows[_is_null(rows)]
    for key in ("stimulus_name", "condition"):
        if has(measured, key) and has(null, key):
            null = null[null[key].isin(measured[key].dropna().unique())]
    return null


def of_part(table: pd.DataFrame, part: str) -> pd.DataFrame:
    """Rows of one part; none from an empty table."""
    return table[table["part"] == part] if "part" in table else table.iloc[:0]


def placed(rows: pd.DataFrame, *axes: str) -> pd.DataFrame:
    """The rows that have a coordinate on every one of the axes."""
    if any(axis not in rows for axis in axes):
        return rows.iloc[:0]
    return rows[rows[list(axes)].notna().all(axis=1)]


def parts_over(rows: pd.DataFrame, axis: str) -> list[str]:
    """Names of the parts that have values along an axis, in the order they come."""
    return [str(name) for name in placed(rows, "part", axis)["part"].unique()] if "part" in rows else []


def claimed(transitions: pd.DataFrame) -> pd.DataFrame:
    """The transitions that claim something formed at a step."""
    if "verdict" not in transitions:
        return transitions.iloc[:0]
    return transitions[(transitions["verdict"] == "transition") & transitions["step"].notna()]


def rule(row: Any, label: str, hue: int | None = None) -> Rule:
    """One claimed transition as a hairline with its interval."""
    low, high = row.get("low"), row.get("high")
    return Rule(
        x=float(row["step"]),
        low=None if _missing(low) else float(low),
        high=None if _missing(high) else float(high),
        label=label,
        hue=hue,
    )


def strongest(transitions: pd.DataFrame) -> pd.DataFrame:
    """For every part and stimulus the claimed transition of the largest size, in steps' order."""
    found = claimed(transitions)
    if found.empty:
        return found
    size = pd.Series(np.abs(column(found, "size")), index=found.index).fillna(-1.0)
    keys = [key for key in ("part", "stimulus_name") if key in found]
    order = found.assign(_size=size).sort_values("_size", ascending=False, kind="stable")
    return order.drop_duplicates(keys).drop(columns="_size").sort_values("step", kind="stable")


def clearest(transitions: pd.DataFrame, most: int = 5) -> pd.DataFrame:
    """At most so many of those, the largest for their noise, in steps' order."""
    best = strongest(transitions)
    noise = np.maximum(column(best, "quiet_sd"), np.finfo(float).tiny)
    order = np.argsort(-np.nan_to_num(np.abs(column(best, "size")) / noise), kind="stable")[:most]
    return best.iloc[np.sort(order)]


def checkpoints(*tables: pd.DataFrame) -> tuple[Ticks, ...]:
    """The steps that were measured, as ticks; nothing where there are none."""
    steps = sorted(
        {int(step) for table in tables if "step" in table for step in table["step"].dropna().unique()}
    )
    return (Ticks(numbers(steps)),) if steps else ()


def missing_rail(rows: pd.DataFrame) -> tuple[Rail, ...]:
    """Where a measurement has no number, by kind: not finite, or undefined for another reason."""
    if "step" not in rows:
        return ()
    lost = rows[~np.isfinite(column(rows, "value"))]
    if lost.empty:
        return ()
    status = _texts(lost, "status")
    nonfinite = _rail("nonfinite", lost.loc[status == "nonfinite", "step"], "non-finite")
    return nonfinite + _rail("missing", lost.loc[status != "nonfinite", "step"], "undefined")


def _rail(kind: Literal["nonfinite", "missing"], steps: pd.Series, label: str) -> tuple[Rail, ...]:
    held = steps.value_counts().sort_index()
    return (Rail(kind, numbers(held.index), tuple(map(int, held)), label),) if len(held) else ()


def step_range(*tables: pd.DataFrame) -> tuple[float, float] | None:
    """First and last step over several tables, so that panels share an axis."""
    steps = np.concatenate([column(table, "step") for table in tables]) if tables else np.zeros(0)
    steps = steps[np.isfinite(steps)]
    if not steps.size:
        return None
    low, high = float(steps.min()), float(steps.max())
    return (low, high) if high > low else (low, low + 1)


def empty_panel(title: str, reason: str) -> Panel:
    """A panel that says why it is empty."""
    return Panel(title, (Text(reason),))


def plural(count: int, noun: str, nouns: str = "") -> str:
    """`1 head`, `1,200 heads`."""
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"


def geometric(steps: Sequence[int], most: int) -> list[int]:
    """At most `most` of the steps, evenly spread on a step axis, with the first and the last."""
    ordered = sorted(set(steps))
    if len(ordered) <= most:
        return ordered
    position = np.log1p(np.array(ordered, dtype=float))
    wanted = np.linspace(position[0], position[-1], most)
    return [ordered[index] for index in sorted({int(np.abs(position - at).argmin()) for at in wanted})]
