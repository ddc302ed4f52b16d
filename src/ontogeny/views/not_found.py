"""What was looked for and is not claimed, grouped so that a reader can take it in."""

import pandas as pd

from ontogeny.catalogue import view
from ontogeny.views.figure import Cell, Column, Figure, Panel, Table
from ontogeny.views.tables import plural, short_place, text_of, words

COLUMNS = (
    Column("part", "name"),
    Column("stimulus", "name"),
    Column("verdict"),
    Column("places", "prose"),
    Column("reason", "prose"),
)


@view()
def not_found(transitions: pd.DataFrame, *, most: int = 6) -> Figure:
    """Series without a claim, by part, stimulus, verdict and reason; up to `most` places are named."""
    if "verdict" not in transitions:
        return Figure("Looked for, not claimed", (Panel("Not claimed", (Table(COLUMNS, ()),)),))
    rest = transitions[transitions["verdict"] != "transition"]
    groups: dict[tuple[str, str, str, str], list[str]] = {}
    for _, row in rest.iterrows():
        part, stimulus = (words(text_of(row, name)) for name in ("part", "stimulus_name"))
        key = (part, stimulus, text_of(row, "verdict"), text_of(row, "reason"))
        groups.setdefault(key, []).append(short_place(row) or "whole model")
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (part, stimulus, verdict, _places(places, most), reason)
        for (part, stimulus, verdict, reason), places in groups.items()
    )
    note = f"{plural(len(rest), 'series', 'series')} without a claim, of {len(transitions):,} looked at."
    return Figure("Looked for, not claimed", (Panel("Not claimed", (Table(COLUMNS, rows),)),), note=note)


def _places(places: list[str], most: int) -> str:
    named = ", ".join(places[:most])
    return named if len(places) <= most else f"{named} and {len(places) - most:,} more"
