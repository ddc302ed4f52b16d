"""A part's score over layers and heads, at a few steps, on one colour scale."""

from collections.abc import Sequence

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
    variants,
    words,
)


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
    _, measured = next(variants(of_part(rows, part)), ("", rows.iloc[:0]))
    if "head" not in measured or not np.isfinite(column(measured, "value")).any():
        reason = f"{words(part) or 'no part'} has no finite score of a head"
        return Figure("Layer by head", (empty_panel("Heads", reason),))
    measured = _last_loop(measured)
    low, high, colours = colour_range(column(measured, "value"))
    chosen = list(steps) or _chosen_steps(measured, of_part(transitions, part), most)
    layers, heads = (
        sorted(int(value) for value in measured[axis].dropna().unique()) for axis in ("layer", "head")
    )
    panels = tuple(
        Panel(
            f"step {step:,}",
            (_heat(measured[measured["step"] == step], part, layers, heads, low, high, colours),),
            x="head",
            y="layer",
            x_scale="linear",
        )
        for step in chosen
    )
    columns = min(len(panels), 4 if len(heads) <= 8 else 3 if len(heads) <= 12 else 2)
    return Figure(
        f"{words(part)}, layer by head", panels, note="One colour scale for all steps.", columns=columns
    )


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


def _heat(
    measured: pd.DataFrame, part: str, layers: list[int], heads: list[int], low: float, high: float, colours
) -> Heat:
    held = {
        (int(layer), int(head)): cell(value, status)
        for layer, head, value, status in zip(
            measured["layer"], measured["head"], column(measured, "value"), _statuses(measured), strict=True
        )
    }
    values = tuple(tuple(held.get((layer, head)) for head in heads) for layer in layers)
    return Heat(words(part), tuple(map(str, heads)), tuple(map(str, layers)), values, low, high, colours)


def _statuses(measured: pd.DataFrame) -> list[str]:
    return (
        list(measured["status"].astype("string").fillna("")) if "status" in measured else [""] * len(measured)
    )
