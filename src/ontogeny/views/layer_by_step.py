"""Numbers of the residual stream, layer by layer over the run."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ontogeny.catalogue import view
from ontogeny.views.figure import Figure, Heat, Mark, Panel, numbers
from ontogeny.views.heat import cell, colour_range, colour_spacing
from ontogeny.views.tables import (
    claimed,
    column,
    empty_panel,
    of_part,
    parts_over,
    placed,
    rule,
    short_place,
    step_range,
    strongest,
    text_of,
    variants,
    words,
)

#: Axes that make a row something else than a number of a whole layer.
FINER = ("head", "neuron", "feature", "expert", "position", "token", "item", "matrix")


@view()
def layer_by_step(rows: pd.DataFrame, transitions: pd.DataFrame, *, parts: Sequence[str] = ()) -> Figure:
    """One heat map a part: layers upwards, steps to the right, colour fixed over the run.

    Without `parts`, every part that gives one number a layer. The hairline is the part's largest claimed
    change. Columns reach half-way to the neighbouring checkpoints on the step axis.
    """
    layered = _layered(rows)
    chosen = list(parts) or parts_over(layered, "layer")
    panels = [
        _panel(part, said, measured, of_part(transitions, part), step_range(rows))
        for part in chosen
        for said, measured in variants(of_part(layered, part))
        if np.isfinite(column(measured, "value")).any()
    ]
    if not panels:
        panels = [empty_panel("Layers", "no part that gives a number for each layer was measured")]
    return Figure("Layer by step", tuple(panels), note=_note(panels), columns=min(2, len(panels)))


def _layered(rows: pd.DataFrame) -> pd.DataFrame:
    layered = placed(rows, "layer")
    return layered[layered[[axis for axis in FINER if axis in rows]].isna().all(axis=1)]


def _panel(
    part: str,
    said: str,
    measured: pd.DataFrame,
    transitions: pd.DataFrame,
    shared: tuple[float, float] | None,
) -> Panel:
    marks: list[Mark] = [_heat(part, measured)]
    whole = claimed(transitions)
    finer = [axis for axis in FINER if axis in whole]
    whole = whole[whole[finer].isna().all(axis=1)] if len(whole) else whole
    marks += [rule(row, short_place(row)) for _, row in strongest(whole).head(1).iterrows()]
    unit = next((text_of(row, "unit") for _, row in transitions.head(1).iterrows()), "")
    return Panel(f"{words(part)} · {said}" if said else words(part), tuple(marks), y=unit, x_range=shared)


def _heat(part: str, measured: pd.DataFrame) -> Heat:
    axes = [axis for axis in ("layer", "loop") if axis in measured and measured[axis].notna().any()]
    keys = measured[axes].astype("Int64").apply(tuple, axis=1)
    steps = sorted(int(step) for step in measured["step"].unique())
    statuses = measured["status"] if "status" in measured else [""] * len(measured)
    held = {
        (key, int(step)): cell(value, str(status))
        for key, step, value, status in zip(
            keys, measured["step"], column(measured, "value"), statuses, strict=True
        )
    }
    layers = sorted(set(keys))
    values = column(measured, "value")
    low, high, colours = colour_range(values)
    spacing = colour_spacing(values)
    if spacing == "log":
        low = float(values[np.isfinite(values)].min())
    return Heat(
        words(part),
        numbers(steps),
        tuple(" loop ".join(map(str, key)) for key in layers),
        tuple(tuple(held.get((key, step)) for step in steps) for key in layers),
        low,
        high,
        colours,
        spacing,
    )


def _note(panels: Sequence[Panel]) -> str:
    heats = [mark for panel in panels for mark in panel.marks if isinstance(mark, Heat)]
    said = "Each map has its own colour scale, fixed over the run." if heats else ""
    cells = [value for heat in heats for row in heat.values for value in row]
    if any(value is None for value in cells):
        said += " Hatched: no number there."
    if any(value is not None and not np.isfinite(value) for value in cells):
        said += " Cross: a value that is not finite."
    return said
