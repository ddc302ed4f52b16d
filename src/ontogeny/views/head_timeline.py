"""Every head's score over the run, against what chance alone gives."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ontogeny.catalogue import view
from ontogeny.views.figure import Figure, Line, Mark, Panel, numbers
from ontogeny.views.tables import (
    checkpoints,
    claimed,
    column,
    empty_panel,
    missing_rail,
    null_of,
    of_part,
    parts_over,
    place_words,
    placed,
    plural,
    rule,
    short_place,
    step_range,
    text_of,
    variants,
    words,
)

#: More heads than this are drawn as bands of quantiles, except the named ones.
DRAWN_SINGLY = 32
HEAD = ("layer", "loop", "head")


@view()
def head_timeline(
    rows: pd.DataFrame, transitions: pd.DataFrame, *, parts: Sequence[str] = (), named: int = 4
) -> Figure:
    """One panel a part: every head over log steps; heads whose transition is claimed are named.

    Named: the `named` largest claimed changes; if none is claimed, only the head that ends highest. The grey
    band is the part's null where it was measured (components starting with `null`).
    """
    chosen = list(parts) or parts_over(rows, "head")
    panels = [
        _panel(part, said, measured, rows, transitions, named)
        for part in chosen
        for said, measured in variants(placed(of_part(rows, part), "head"))
        if len(measured)
    ]
    if not panels:
        panels = [empty_panel("Heads", "no part that scores single heads was measured")]
    return Figure("Heads over time", tuple(panels), note=_note(rows, chosen), columns=min(2, len(panels)))


def _panel(
    part: str, said: str, measured: pd.DataFrame, rows: pd.DataFrame, transitions: pd.DataFrame, named: int
) -> Panel:
    found = _claimed_heads(of_part(transitions, part), measured).head(named)
    heads = dict(_heads(measured))
    pointed = [place_words(row) for _, row in found.iterrows()] or _highest(heads)
    marks: list[Mark] = [*_null_band(null_of(of_part(rows, part), measured), measured)]
    marks += _background({place: frame for place, frame in heads.items() if place not in pointed})
    marks += [_line(heads[place], hue) for hue, place in enumerate(pointed) if place in heads]
    marks += [rule(row, "", hue) for hue, (_, row) in enumerate(found.iterrows())]
    marks += [*missing_rail(measured), *checkpoints(measured)]
    unit = _unit(transitions, part)
    title = f"{words(part)} · {said}" if said else words(part)
    return Panel(title, tuple(marks), y=unit, x_range=step_range(rows), y_range=_from_zero(measured))


def _from_zero(measured: pd.DataFrame) -> tuple[float, float] | None:
    """Scores that cannot be negative are shown from zero up, so that noise looks as small as it is."""
    values = np.concatenate([column(measured, name) for name in ("value", "high")])
    values = values[np.isfinite(values)]
    return (0.0, 1.05 * float(values.max())) if values.size and values.min() >= 0 < values.max() else None


def _unit(transitions: pd.DataFrame, part: str) -> str:
    units = [text_of(row, "unit") for _, row in of_part(transitions, part).head(1).iterrows()]
    return units[0] if units else ""


def _claimed_heads(transitions: pd.DataFrame, measured: pd.DataFrame) -> pd.DataFrame:
    """Claimed transitions of single heads in this series, largest first."""
    found = claimed(transitions)
    if "head" not in found:
        return found.iloc[:0]
    found = found[found["head"].notna()]
    for key in ("component", "stimulus_name"):
        if key in found and key in measured:
            found = found[
                found[key].astype("string").fillna("").isin(measured[key].astype("string").fillna(""))
            ]
    order = np.argsort(-np.abs(column(found, "size")), kind="stable")
    return found.iloc[order]


def _heads(measured: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """Each head's rows in steps' order, by its place in words."""
    axes = [axis for axis in HEAD if axis in measured]
    groups = measured.sort_values("step", kind="stable").groupby(axes, dropna=False, sort=True)
    return [(place_words(frame.iloc[0]), frame) for _, frame in groups]


def _highest(heads: dict[str, pd.DataFrame]) -> list[str]:
    ends = {place: column(frame, "value") for place, frame in heads.items()}
    last = {
        place: values[np.isfinite(values)][-1] for place, values in ends.items() if np.isfinite(values).any()
    }
    return sorted(last, key=lambda place: -last[place])[:1]


def _line(frame: pd.DataFrame, hue: int) -> Line:
    low, high = column(frame, "low"), column(frame, "high")
    sure = bool(np.isfinite(low).any())
    band = (numbers(low), numbers(high)) if sure else ((), ())
    return Line(
        short_place(frame.iloc[0]),
        numbers(frame["step"]),
        numbers(column(frame, "value")),
        *band,
        role="named",
        hue=hue,
    )


def _background(heads: dict[str, pd.DataFrame]) -> list[Mark]:
    if len(heads) <= DRAWN_SINGLY:
        return [
            Line(place, numbers(frame["step"]), numbers(column(frame, "value")), role="quiet")
            for place, frame in heads.items()
        ]
    every = pd.concat(heads.values()).groupby("step")["value"]
    bands: list[Mark] = []
    for low, high, label in ((0.0, 1.0, "all"), (0.1, 0.9, "middle 80 %")):
        under, over = every.quantile(low), every.quantile(high)
        label = f"{label} of {len(heads)} further heads"
        bands.append(Line(label, numbers(under.index), (), numbers(under), numbers(over), role="quiet"))
    return bands


def _null_band(null: pd.DataFrame, measured: pd.DataFrame) -> list[Mark]:
    """The reach of the null over the places it was drawn for: within its own bounds, if it has them.

    A null that gives one number gives its upper end: the band then begins at 0, or at the lowest score.
    """
    if null.empty:
        return []
    value, low, high = (column(null, name) for name in ("value", "low", "high"))
    bottom = np.nanmin(np.append(column(measured, "value"), 0.0))
    bounds = pd.DataFrame(
        {
            "step": null["step"].to_numpy(),
            "low": np.where(np.isfinite(low), low, bottom),
            "high": np.where(np.isfinite(high), high, value),
        }
    )
    reach = bounds.groupby("step").agg({"low": "min", "high": "max"})
    return [
        Line("null", numbers(reach.index), (), numbers(reach["low"]), numbers(reach["high"]), role="null")
    ]


def _note(rows: pd.DataFrame, parts: Sequence[str]) -> str:
    scores = placed(rows, "head")
    measured = scores[scores["part"].isin(parts)] if "part" in scores else scores.iloc[:0]
    if measured.empty:
        return ""
    heads = len(measured.drop_duplicates([axis for axis in HEAD if axis in measured]))
    steps = plural(int(measured["step"].nunique()), "checkpoint")
    said = f"{plural(heads, 'head')}, {steps}. Coloured: the largest claimed changes, or the highest head."
    said += " Vertical: when, with its interval."
    if any(not null_of(of_part(rows, part), of_part(rows, part)).empty for part in parts):
        said += " Grey band: the shuffled null."
    if heads > DRAWN_SINGLY:
        said += " Heads that are not named are drawn as bands of quantiles."
    return said
