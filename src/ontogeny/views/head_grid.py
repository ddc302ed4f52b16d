"""A part's score over layers and heads, at a few steps, on one colour scale."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from ontogeny.catalogue import view
from ontogeny.views.figure import Figure, Heat, Panel
from ontogeny.views.heat import cell, colour_range
from ontogeny.views.tables import (
    claimed,
    column,
    empty_panel,
    geometric,
    of_part,
    parts_over,
    placed,
    text_of,
    variants,
    words,
)

#: Panels to a row, and the most heads that leaves room for.
COLUMNS = ((4, 8), (3, 12), (2, 10_000))


@view()
def head_grid(
    rows: pd.DataFrame,
    transitions: pd.DataFrame,
    *,
    part: str = "",
    steps: Sequence[int] = (),
    most: int = 8,
) -> Figure:
    """Layer by head, once a step; the colour scale spans every checkpoint and stays fixed.

    Without `steps`, up to `most` checkpoints even on a step axis, moved to those around the part's earliest
    claimed transition. Without `part`, the first that scores single heads. A looped model shows its last
    loop.
    """
    known = parts_over(rows, "head")
    part = part or (known[0] if known else "")
    scores = placed(of_part(rows, part), "layer", "head")
    measured = _last_loop(next(variants(scores), ("", scores))[1])
    if not np.isfinite(column(measured, "value")).any():
        reason = f"{words(part) or 'no part'} has no finite score of a head"
        return Figure("Layer by head", (empty_panel("Heads", reason),))
    blank = _blank(part, measured)
    panels = tuple(
        Panel(f"step {step:,}", (_filled(blank, measured, step),), x="head", y="layer", x_scale="linear")
        for step in list(steps) or _chosen_steps(measured, of_part(transitions, part), most)
    )
    columns = min(len(panels), next(n for n, widest in COLUMNS if len(blank.x) <= widest))
    note = "One colour scale for all steps."
    return Figure(f"{words(part)}, layer by head", panels, note=note, columns=columns)


def _last_loop(measured: pd.DataFrame) -> pd.DataFrame:
    if "loop" not in measured or measured["loop"].isna().all():
        return measured
    return measured[measured["loop"] == measured["loop"].max()]


def _chosen_steps(measured: pd.DataFrame, transitions: pd.DataFrame, most: int) -> list[int]:
    available = sorted(int(step) for step in measured["step"].unique())
    chosen = set(geometric(available, max(most - 2, 2)))
    found = claimed(transitions)
    if len(found):
        moment = float(column(found, "step").min())
        chosen |= {max((s for s in available if s <= moment), default=available[0])}
        chosen |= {min((s for s in available if s >= moment), default=available[-1])}
    return sorted(chosen)[:most]


def _blank(part: str, measured: pd.DataFrame) -> Heat:
    """The grid over all layers and heads, with the scale of the whole run and nothing in it."""
    layers, heads = (sorted({int(value) for value in measured[axis]}) for axis in ("layer", "head"))
    low, high, colours = colour_range(column(measured, "value"))
    empty = ((None,) * len(heads),) * len(layers)
    return Heat(words(part), tuple(map(str, heads)), tuple(map(str, layers)), empty, low, high, colours)


def _filled(blank: Heat, measured: pd.DataFrame, step: int) -> Heat:
    here = measured[measured["step"] == step]
    statuses = [text_of(row, "status") for _, row in here.iterrows()]
    held = {
        (str(int(layer)), str(int(head))): cell(value, status)
        for layer, head, value, status in zip(
            here["layer"], here["head"], column(here, "value"), statuses, strict=True
        )
    }
    values = tuple(tuple(held.get((layer, str(head))) for head in blank.x) for layer in blank.y)
    return replace(blank, values=values)
