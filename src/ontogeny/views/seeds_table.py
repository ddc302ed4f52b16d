"""What runs of one configuration say together, as a table."""

import pandas as pd

from ontogeny.catalogue import view
from ontogeny.views.figure import Cell, Column, Figure, Panel, Table
from ontogeny.views.tables import column, plural, text_of, words

COLUMNS = (
    Column("runs", "name"),
    Column("part", "name"),
    Column("best places", "name"),
    Column("stimulus", "name"),
    Column("shown"),
    Column("in controls"),
    Column("step", "step"),
    Column("95 % over runs", "interval"),
    Column("size", "number"),
    Column("unit", "name"),
    Column("p", "probability"),
    Column("p of all", "probability"),
    Column("reason", "prose"),
)
#: Columns that are shown only where there is something in them.
OPTIONAL = ("runs", "in controls")


@view()
def seeds_table(seeds: pd.DataFrame) -> Figure:
    """Every change that some run claims: in how many it is shown, when on average, and whether by chance.

    The run is the unit: intervals are over runs, and p is of runs against controls, of signs, or of the runs'
    own p together. What no run claims is counted in the note.
    """
    shown = seeds[column(seeds, "shown") > 0]
    rows = [_row(row) for _, row in shown.iterrows()]
    kept = [
        index
        for index, each in enumerate(COLUMNS)
        if each.title not in OPTIONAL or any(row[index] for row in rows)
    ]
    table = Table(tuple(COLUMNS[i] for i in kept), tuple(tuple(row[i] for i in kept) for row in rows))
    rest = len(seeds) - len(shown)
    note = f"{plural(len(seeds), 'change')} looked for over seeds; {rest:,} of them claimed in no run."
    return Figure("Over seeds", (Panel("Over seeds", (table,)),), note=note)


def _row(row: pd.Series) -> tuple[Cell, ...]:
    low, high = _number(row, "low"), _number(row, "high")
    return (
        text_of(row, "group"),
        words(text_of(row, "part")),
        text_of(row, "where"),
        words(text_of(row, "stimulus_name")),
        _share(row, "shown", "runs"),
        _share(row, "controls_shown", "controls"),
        _number(row, "step"),
        None if low is None or high is None else (low, high),
        _number(row, "size"),
        text_of(row, "unit"),
        _number(row, "p"),
        _number(row, "p_family"),
        text_of(row, "reason"),
    )


def _number(row: pd.Series, name: str) -> float | None:
    value = row.get(name)
    return None if value is None or pd.isna(value) else float(value)


def _share(row: pd.Series, part: str, whole: str) -> str:
    """`3 of 5`; nothing where there is no whole."""
    some, every = _number(row, part), _number(row, whole)
    return "" if some is None or not every else f"{some:.0f} of {every:.0f}"
