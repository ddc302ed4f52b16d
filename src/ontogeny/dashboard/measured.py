"""Answers from what was measured: which parts there are, their numbers over steps, arrays, transitions."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from ontogeny.catalogue import MEASURING, parts
from ontogeny.dashboard.frames import Column, frame
from ontogeny.dashboard.queries import BadQuery, number, required
from ontogeny.dashboard.tables import Tables
from ontogeny.errors import UnknownName
from ontogeny.store.labelled import one_definition
from ontogeny.views.tables import place_words, words
from ontogeny.vocabulary import AXES, Status

#: What a place's number is, in the mask beside the values.
OK, UNDEFINED, NONFINITE, MISSING = range(4)
#: Numbers in one answer.
MOST_CELLS = 4_000_000
PLACES = [*AXES, "place_to"]


@cache
def notes() -> dict[str, dict[str, str]]:
    """What every part in the catalogue is, by name."""
    known = {name: found for kind in sorted(MEASURING) for name, found in parts(kind).items()}
    return {
        name: {
            "family": made.family,
            "unit": made.unit,
            "meaning": made.meaning,
            "misleads": made.said("Misleads"),
        }
        for name, made in known.items()
    }


#: Of a part that is not installed here.
UNKNOWN = {"family": "", "unit": "", "meaning": "", "misleads": ""}


def part_list(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Every part that was measured, with what tells its series apart."""
    listed = []
    for name, mine in rows.groupby("part", sort=True):
        axes = _axes(mine)
        listed.append(
            {
                "name": name,
                "title": words(str(name)),
                **notes().get(str(name), UNKNOWN),
                "axes": axes,
                "shape": "head" if "head" in axes else axes[0] if axes else "scalar",
                "stimuli": _distinct(mine, "stimulus_name"),
                "components": _distinct(mine, "component"),
                "settings": _distinct(mine, "settings"),
                "steps": int(mine["step"].nunique()),
                "arrays": bool((mine["array"] != "").any()),
            }
        )
    return listed


def _axes(rows: pd.DataFrame) -> list[str]:
    return [axis for axis in AXES if axis in rows and rows[axis].notna().any()]


def _distinct(rows: pd.DataFrame, column: str) -> list[str]:
    return [str(value) for value in rows[column].unique()]


def chosen(tables: Tables, query: Mapping[str, str]) -> pd.DataFrame:
    """The rows of one component of one part on one stimulus. Left out, each is the part's own or first."""
    part, rows = required(query, "part"), tables.rows()
    mine = rows[rows["part"] == part]
    if mine.empty:
        raise UnknownName("measured part of this run", part, set(rows["part"]))
    component = query.get("component")
    known = _distinct(mine, "component")
    if not component and component not in known:
        component = "" if "" in known else known[0]
    if component not in known:
        raise UnknownName(f"component of {part!r}", component, known)
    mine = mine[mine["component"] == component]
    stimulus, settings = query.get("stimulus"), query.get("settings")
    if not stimulus and stimulus not in _distinct(mine, "stimulus_name"):
        stimulus = None
    return one_definition(mine, part, stimulus, settings or None)


def rows_answer(tables: Tables, query: Mapping[str, str]) -> bytes:
    """One part's numbers [place step], with a mask that says why one is none; places in reading order."""
    mine = chosen(tables, query)
    axes = [axis for axis in PLACES if axis in mine and _said(mine[axis]).any()]
    steps = np.sort(mine["step"].unique().astype(np.int64))
    keys = [mine[axis].astype(object).where(_said(mine[axis]), None) for axis in axes]
    tuples = list(zip(*keys, strict=True)) if keys else [()] * len(mine)
    order = {place: index for index, place in enumerate(sorted(set(tuples), key=_reading_order))}
    if len(order) * len(steps) > MOST_CELLS:
        raise BadQuery("this part has too many numbers to show", received=f"{len(order) * len(steps):,}")
    where = (
        np.array([order[place] for place in tuples], int),
        np.searchsorted(steps, mine["step"].astype(int)),
    )
    columns = [Column("values", "f4", _grid(mine, "value", order, steps, where))]
    status = np.full((len(order), len(steps)), MISSING, np.uint8)
    status[where] = _mask(mine)
    columns.append(Column("status", "u1", status))
    for bound in ("low", "high"):
        if mine[bound].notna().any():
            columns.append(Column(bound, "f4", _grid(mine, bound, order, steps, where)))
    return frame({**_about(mine), **_shape(order, axes, steps)}, columns)


def _about(mine: pd.DataFrame) -> dict[str, Any]:
    first, part = mine.iloc[0], str(mine["part"].iloc[0])
    lost = mine[mine["status"] != Status.OK]
    return {
        "part": part,
        "title": words(part),
        "unit": notes().get(part, UNKNOWN)["unit"],
        "component": first["component"],
        "stimulus": first["stimulus_name"],
        "settings": first["settings"],
        "status": {str(key): int(count) for key, count in mine["status"].value_counts().items()},
        "reasons": {
            str(row["status"]): row["reason"] for _, row in lost.drop_duplicates("status").iterrows()
        },
    }


def _shape(order: Mapping[tuple[Any, ...], int], axes: list[str], steps: Any) -> dict[str, Any]:
    places = [{a: v for a, v in zip(axes, place, strict=True) if v is not None} for place in order]
    return {"axes": axes, "steps": steps.tolist(), "places": places}


def _said(column: pd.Series) -> pd.Series:
    return column.notna() & (column.astype("string").fillna("") != "")


def _reading_order(place: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(
        (value is not None, isinstance(value, str), value if value is not None else 0) for value in place
    )


def _grid(mine: pd.DataFrame, name: str, order: Any, steps: Any, where: Any) -> Any:
    values = np.full((len(order), len(steps)), np.nan)
    values[where] = pd.to_numeric(mine[name], errors="coerce").to_numpy(np.float64, na_value=np.nan)
    return values


def _mask(mine: pd.DataFrame) -> Any:
    status, values = mine["status"].to_numpy(str), mine["value"].to_numpy(np.float64, na_value=np.nan)
    lost = np.where(status == Status.NONFINITE, NONFINITE, UNDEFINED)
    bad = np.where(np.isfinite(values), OK, NONFINITE)
    return np.where(status == Status.OK, bad, lost).astype(np.uint8)


def place_of(text: str) -> dict[str, Any]:
    """`layer:3,head:2` as coordinates."""
    found: dict[str, Any] = {}
    for one in filter(None, text.split(",")):
        axis, colon, value = one.partition(":")
        if axis not in AXES or not colon:
            raise BadQuery(
                "place is not usable", received=one[:80], allowed=f"axis:value of {', '.join(AXES)}"
            )
        try:
            found[axis] = AXES[axis](value)
        except ValueError as error:
            raise BadQuery(f"{axis} is a whole number", received=value[:40]) from error
    return found


def vector_answer(tables: Tables, query: Mapping[str, str]) -> bytes:
    """The arrays a part kept at one place [step n], flattened; those of another size are left out."""
    mine = chosen(tables, query)
    for axis, value in place_of(query.get("place", "")).items():
        mine = mine[mine[axis] == value]
    mine = mine[mine["array"] != ""]
    step = number(query, "step", -1, -1, 2**53)
    mine = mine if step < 0 else mine[mine["step"] == step]
    if mine.empty:
        raise BadQuery(
            "no array was kept there", allowed="a part with arrays, at a place and step it was measured"
        )
    if len(mine.drop_duplicates([axis for axis in AXES if axis in mine])) > 1:
        raise BadQuery("arrays were kept at several places", allowed="place=axis:value,…")
    mine = mine.drop_duplicates("step", keep="last").sort_values("step")
    packs = tables.arrays()
    arrays = [packs.read(name).double().numpy() for name in mine["array"]]
    shape = arrays[-1].shape
    there = [array.shape == shape for array in arrays]
    held = np.stack([array.ravel() for array in arrays if array.shape == shape])
    if held.size > MOST_CELLS:
        raise BadQuery("these arrays are too large to show", received=f"{held.size:,}", allowed="one step")
    steps = mine["step"].astype(int)[there].tolist()
    header = {**_about(mine), "steps": steps, "shape": list(shape), "n": held.shape[1]}
    return frame(header, [Column("values", "f4", held)])


def transition_list(run: str, transitions: pd.DataFrame) -> list[dict[str, Any]]:
    """What `detect` said of each series, claims and refusals alike."""
    found = []
    for row in transitions.to_dict("records"):
        said = {name: row.get(name) for name in ("part", "component", "unit", "method", "verdict", "reason")}
        numbers = ("step", "low", "high", "level", "size", "width", "p")
        place = {a: row[a] for a in AXES if a in row and not pd.isna(row[a]) and row[a] != ""}
        found.append(
            {
                "run": run,
                **{name: "" if value is None or value is pd.NA else value for name, value in said.items()},
                "place": {axis: AXES[axis](value) for axis, value in place.items()},
                "where": place_words(row),
                "stimulus": row.get("stimulus_name") or "",
                **{name: _number(row.get(name)) for name in numbers},
            }
        )
    return found


def _number(value: Any) -> float | None:
    return None if value is None or pd.isna(value) else float(value)
