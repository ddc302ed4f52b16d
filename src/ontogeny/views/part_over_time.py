"""One part's number over the run, wherever it was measured."""

import re
from collections.abc import Iterator

import numpy as np
import pandas as pd

from ontogeny.catalogue import view
from ontogeny.views.figure import Figure, Heat, Line, Panel, Scale, numbers
from ontogeny.views.heat import cell, colour_range, colour_spacing
from ontogeny.views.tables import (
    PLAIN,
    checkpoints,
    column,
    empty_panel,
    has,
    missing_rail,
    of_part,
    place_words,
    short_place,
    step_range,
    text_of,
    variants,
    words,
)
from ontogeny.vocabulary import AXES

#: More places than this are drawn as bands of quantiles, with the two that end outermost.
DRAWN_SINGLY = 6
#: Points of a curve of shares.
QUANTILES = 101
WHOLE = "whole model"
#: A value so far below the largest is what is left of 0.
ROUNDING = 1e-8


@view()
def part_over_time(rows: pd.DataFrame, *, part: str = "", unit: str = "") -> Figure:
    """One panel for each series and kind of place: a line a place, and its interval where there is one.

    More than six places: the band all lie in, that of the middle 80 %, the lines that end highest and lowest.
    Numbers between two layers: a grid at the last step. One number a place of the whole course: the share of
    places at or below it. Where the part's own number is only of the whole course, its other numbers over
    time. Without `part`, the first there is.
    """
    part = part or ("" if rows.empty else str(rows["part"].iloc[0]))
    found = of_part(rows, part)
    between = found["place_to"].fillna("") != "" if has(found, "place_to") else pd.Series(False, found.index)
    flat, steps = found[~between], step_range(rows)
    panels = [
        panel
        for kind, frame in _kinds(_own(flat))
        for said, series in variants(frame)
        if np.isfinite(column(series, "value")).any()
        for panel in _panels(said, kind, series, flat, unit, steps)
    ]
    panels += _grid(found[between], unit)
    if not panels:
        panels = [empty_panel(words(part), _why(found))]
    return Figure(words(part), tuple(panels), columns=min(2, len(panels)))


def _own(flat: pd.DataFrame) -> pd.DataFrame:
    """Rows of the part's own, nameless number; all rows where it has none."""
    own = flat["component"].fillna("").isin(PLAIN) if "component" in flat else pd.Series(True, flat.index)
    return flat[own] if own.any() else flat


def _why(found: pd.DataFrame) -> str:
    """Why nothing can be drawn: the reason of the first row that gives one."""
    reasons = [text_of(row, "reason") or text_of(row, "status") for _, row in found.head(50).iterrows()]
    return next(filter(None, reasons), "it was not measured")


def _panels(
    said: str,
    kind: str,
    series: pd.DataFrame,
    flat: pd.DataFrame,
    unit: str,
    steps: tuple[float, float] | None,
) -> Iterator[Panel]:
    if series["step"].nunique() > 1:
        yield _over_time(said, kind, series, unit, steps)
    elif len(series) > 1:
        yield _shares(said, kind, series, unit)
    else:
        yield from _beside(series, flat, unit, steps)


def _kinds(series: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Rows by the finest axis that they have a coordinate on."""
    finest = pd.Series(WHOLE, series.index, dtype=object)
    for axis in AXES:
        if has(series, axis):
            finest[series[axis].notna()] = axis
    for kind, frame in series.groupby(finest, sort=False):
        yield str(kind), frame


def _title(said: str, what: str) -> str:
    return f"{said} · {what}" if said else what


def _over_time(
    said: str, kind: str, frame: pd.DataFrame, unit: str, steps: tuple[float, float] | None
) -> Panel:
    places = list(_places(frame))
    few = len(places) <= DRAWN_SINGLY
    what = kind if kind == WHOLE else f"each {kind}" if few else f"{len(places):,} {_many(kind)}"
    lines = _lines(places, kind) if few else _bands(frame, places)
    values = column(frame, "value")
    return Panel(
        _title(said, what),
        (*lines, *missing_rail(frame), *checkpoints(frame)),
        y=unit,
        y_scale=_scale(values),
        x_range=steps,
        y_range=_from_zero(frame),
        latest=_last(values) if len(places) == 1 else "",
    )


def _lines(places: list[tuple[str, pd.DataFrame]], kind: str) -> list[Line]:
    """A line a place: layers from dark to light, others each in a hue."""
    last = max(len(places) - 1, 1)
    shades = [index / last if kind == "layer" else None for index in range(len(places))]
    return [
        _line(label, one, hue, shade)
        for hue, ((label, one), shade) in enumerate(zip(places, shades, strict=True))
    ]


def _many(kind: str) -> str:
    return {"matrix": "matrices"}.get(kind, kind + "s")


def _finite(values: np.ndarray) -> np.ndarray:
    return values[np.isfinite(values)]


def _last(values: np.ndarray) -> str:
    return f"{_finite(values)[-1]:.3g}".replace("-", "−")


def _places(frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    axes = [axis for axis in AXES if has(frame, axis)]
    if not axes:
        yield "", frame.sort_values("step", kind="stable")
        return
    for _, one in frame.sort_values("step", kind="stable").groupby(axes, dropna=False, sort=True):
        yield _short(one.iloc[0]), one


def _short(row: pd.Series) -> str:
    """A label of a place; what names its layer only within a path begins with it all the same."""
    label = short_place(row) or place_words(row)
    return re.sub(r"^(?:\w+\.)*?(\d+)\.", r"L\1 ", label)


def _line(label: str, one: pd.DataFrame, hue: int, shade: float | None) -> Line:
    low, high = column(one, "low"), column(one, "high")
    sure = bool(np.isfinite(low).any())
    band = (numbers(low), numbers(high)) if sure else ((), ())
    values = numbers(column(one, "value"))
    return Line(label, numbers(one["step"]), values, *band, role="named", hue=hue, shade=shade)


def _bands(frame: pd.DataFrame, places: list[tuple[str, pd.DataFrame]]) -> list[Line]:
    """What holds all places and the middle 80 % of them, and the two lines that end outermost."""
    finite = frame[np.isfinite(column(frame, "value"))]
    every = finite.groupby("step")["value"]
    bands = []
    for low, high in ((0.0, 1.0), (0.1, 0.9)):
        under, over = every.quantile(low), every.quantile(high)
        bands.append(
            Line(
                f"{low:.0%} to {high:.0%}",
                numbers(under.index),
                (),
                numbers(under),
                numbers(over),
                role="quiet",
            )
        )
    ends = [(_finite(column(one, "value")), label, one) for label, one in places]
    ordered = sorted((end for end in ends if end[0].size), key=lambda end: end[0][-1])
    outermost = [ordered[-1], ordered[0]] if len(ordered) > 1 else ordered
    return bands + [_line(label, one, hue, None) for hue, (_, label, one) in enumerate(outermost)]


def _from_zero(frame: pd.DataFrame) -> tuple[float, float] | None:
    """From zero up where nothing is negative and the values reach down towards it."""
    values = np.concatenate([column(frame, name) for name in ("value", "low", "high")])
    values = _finite(values)
    low, high = float(values.min()), float(values.max())
    if low == high == 0:
        return 0.0, 1.0
    if low < 0 or low > 0.5 * high or _scale(column(frame, "value")) == "log":
        return None
    return 0.0, 1.05 * high


def _scale(values: np.ndarray) -> Scale:
    """Logarithmic over several decades, unless the least is rounding: a model compared with itself."""
    finite = _finite(values)
    return "linear" if finite.min() < ROUNDING * finite.max() else colour_spacing(values)


def _shares(said: str, kind: str, frame: pd.DataFrame, unit: str) -> Panel:
    finite = _finite(column(frame, "value"))
    shares = np.linspace(0, 1, QUANTILES)
    line = Line("", numbers(np.quantile(finite, shares)), numbers(shares), role="named")
    title = _title(said, f"{len(finite):,} {_many(kind)}")
    return Panel(title, (line,), x=unit, y=f"share of {_many(kind)} at or below", x_scale="linear")


def _beside(
    frame: pd.DataFrame, flat: pd.DataFrame, unit: str, steps: tuple[float, float] | None
) -> Iterator[Panel]:
    """What a part gives over time beside one number of the whole course: a line a component."""
    lasting = [
        (str(name), one.sort_values("step", kind="stable"))
        for name, one in flat.groupby("component", sort=True)
        if one["step"].nunique() > 1
    ]
    if not lasting:
        yield empty_panel("whole course", f"{unit or 'value'}: {_last(column(frame, 'value'))}")
        return
    lines = [_line(words(name), one, hue, None) for hue, (name, one) in enumerate(lasting)]
    told = f"{unit} {_last(column(frame, 'value'))}".strip()
    every = pd.concat([one for _, one in lasting])
    marks = (*lines, *missing_rail(every), *checkpoints(every))
    yield Panel(WHOLE, marks, x_range=steps, latest=told)


def _grid(between: pd.DataFrame, unit: str) -> list[Panel]:
    """Layers against layers at the last step; the first component that has a number."""
    known = between[np.isfinite(column(between, "value"))]
    if known.empty or not has(known, "layer"):
        return []
    last = known[known["step"] == known["step"].max()]
    last = last[last["component"] == min(last["component"], key=len)]
    held = {
        (place_words(row), str(row["place_to"])): cell(float(row["value"]), text_of(row, "status"))
        for _, row in last.iterrows()
    }
    layers = sorted({name for pair in held for name in pair}, key=lambda name: int(name.rpartition(" ")[2]))
    low, high, colours = colour_range(column(last, "value"))
    names = tuple(name.rpartition(" ")[2] for name in layers)
    values = tuple(tuple(held.get((row, other)) for other in layers) for row in layers)
    heat = Heat(unit, names, names, values, low, high, colours)
    title = f"layers, step {int(last['step'].iloc[0]):,}"
    return [Panel(title, (heat,), x="layer", y="layer", x_scale="linear")]
