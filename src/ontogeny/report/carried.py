"""What an interactive page carries besides its words: figures by number, and every head at every step."""

import base64
import gzip
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from ontogeny.report.html import drawing
from ontogeny.report.tables import RunTables
from ontogeny.views.figure import Figure, plain
from ontogeny.views.tables import column, geometric, of_part, parts_over, place_words, placed, text_of

#: Digits of a number that is drawn: more than a screen shows.
DIGITS = 6
#: Numbers of heads a page carries at most, over all parts of a run.
MOST_NUMBERS = 200_000
MOST_STEPS = 80
HEAD = ("layer", "loop", "head")
STATUS = {"ok": 0, "nonfinite": 2}
UNDEFINED, MISSING = 1, 3


@dataclass
class Carried:
    """Collects what a page's script draws again, in the order the page says it."""

    figures: list[Figure] = field(default_factory=list)
    runs: list[dict[str, Any]] = field(default_factory=list)

    def drawing(self, figure: Figure, *, heading: bool = True) -> str:
        """A figure as `html.drawing` writes it, under the number that the script finds it by."""
        self.figures.append(figure)
        return drawing(figure, heading=heading, number=len(self.figures) - 1)

    def run(self, key: str, run: RunTables) -> None:
        """Every head of a run, and what was claimed of it."""
        self.runs.append(
            {"key": key, "rows": head_rows(run.rows), "transitions": transitions(run.transitions)}
        )

    def packed(self) -> str:
        """Everything as JSON, compressed, in base64; the same content gives the same text."""
        said = {"figures": [figure.plain() for figure in self.figures], "runs": self.runs}
        text = json.dumps(short(said), separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        return base64.b64encode(gzip.compress(text.encode("utf-8", "replace"), 9, mtime=0)).decode()


def short(value: Any) -> Any:
    """The same JSON value with numbers as short as a drawing needs them."""
    if isinstance(value, float):
        rounded = float(f"{value:.{DIGITS}g}")
        return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded
    if isinstance(value, Mapping):
        return {key: short(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [short(item) for item in value]
    return value


def head_rows(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Each part over heads, one entry a stimulus and component: steps, places, values with their bounds.

    Values lie place by place. As many parts as fit into the page's share are carried, in their order.
    """
    found, numbers = [], 0
    for part in parts_over(rows, "head"):
        for entry in _series(part, placed(of_part(rows, part), "layer", "head")):
            numbers += len(entry["values"]) * (3 if entry["low"] else 1)
            if numbers > MOST_NUMBERS:
                return found
            found.append(entry)
    return found


def _series(part: str, measured: pd.DataFrame) -> Iterator[dict[str, Any]]:
    kinds = [key for key in ("stimulus_name", "component") if key in measured]
    texts = measured.assign(**{key: measured[key].astype("string").fillna("") for key in kinds})
    for names, frame in texts.groupby(kinds, sort=False) if kinds else [((), texts)]:
        said = dict(zip(kinds, names, strict=True))
        if not str(said.get("component", "")).startswith("null"):
            yield _entry(part, said, frame)


def _entry(part: str, said: Mapping[str, Any], frame: pd.DataFrame) -> dict[str, Any]:
    axes = [axis for axis in HEAD if axis in frame and frame[axis].notna().any()]
    places = sorted({tuple(int(value) for value in row) for row in frame[axes].to_numpy()})
    steps = geometric([int(step) for step in frame["step"].unique()], MOST_STEPS)
    row_of = {place: index for index, place in enumerate(places)}
    column_of = {step: index for index, step in enumerate(steps)}
    kept = frame[frame["step"].isin(steps)]
    at = [row_of[tuple(int(value) for value in row)] for row in kept[axes].to_numpy()]
    then = [column_of[int(step)] for step in kept["step"]]
    grid = {name: np.full((len(places), len(steps)), math.nan) for name in ("value", "low", "high")}
    for name, values in grid.items():
        values[at, then] = column(kept, name)
    status = np.full((len(places), len(steps)), MISSING)
    status[at, then] = [STATUS.get(text_of(row, "status"), UNDEFINED) for _, row in kept.iterrows()]
    sure = bool(np.isfinite(grid["low"]).any())
    return {
        "part": part,
        "stimulus": str(said.get("stimulus_name", "")),
        "component": str(said.get("component", "")),
        "steps": steps,
        "places": [dict(zip(axes, place, strict=True)) for place in places],
        "values": _numbers(grid["value"]),
        "low": _numbers(grid["low"]) if sure else None,
        "high": _numbers(grid["high"]) if sure else None,
        "status": [int(one) for one in status.ravel()],
    }


def _numbers(values: np.ndarray) -> list[float | str | None]:
    """Finite numbers as they are, infinities by name, None for what is none."""
    return [None if math.isnan(value) else plain(float(value)) for value in values.ravel()]


def transitions(found: pd.DataFrame) -> list[dict[str, Any]]:
    """What was looked for in single heads, with its verdict."""
    if "verdict" not in found or "head" not in found:
        return []
    return [_transition(row) for _, row in found[found["head"].notna()].iterrows()]


def _transition(row: pd.Series) -> dict[str, Any]:
    numbers = {key: row.get(key) for key in ("step", "low", "high", "size", "p")}
    return {
        "part": text_of(row, "part"),
        "component": text_of(row, "component"),
        "place": {axis: int(row[axis]) for axis in HEAD if axis in row and pd.notna(row[axis])},
        "where": place_words(row),
        "stimulus": text_of(row, "stimulus_name"),
        "unit": text_of(row, "unit"),
        "verdict": text_of(row, "verdict"),
        "reason": text_of(row, "reason"),
        **{key: _finite(value) for key, value in numbers.items()},
    }


def _finite(value: Any) -> float | None:
    return float(value) if value is not None and pd.notna(value) and math.isfinite(value) else None
