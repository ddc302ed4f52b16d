"""What formed, where and when, as a table."""

from collections.abc import Sequence

import pandas as pd

from ontogeny.catalogue import view
from ontogeny.views.figure import Cell, Column, Figure, Panel, Table
from ontogeny.views.tables import column, place_words, plural, text_of, words

COLUMNS = (
    Column("part", "name"),
    Column("place", "name"),
    Column("stimulus", "name"),
    Column("verdict"),
    Column("kind"),
    Column("step", "step"),
    Column("95 % interval", "interval"),
    Column("size", "number"),
    Column("unit", "name"),
    Column("p", "probability"),
    Column("q", "probability"),
    Column("reason", "prose"),
)
#: Columns that are shown only where a transition has something in them.
OPTIONAL = ("kind", "q")
#: Claims first, then what came closest to one.
VERDICTS = ("transition", "gradual", "unfinished", "before-start", "none")


@view()
def transition_table(transitions: pd.DataFrame, *, verdicts: Sequence[str] = VERDICTS) -> Figure:
    """Every series that was looked at under one of `verdicts`: claims first, each in steps' order.

    The verdict has no column where only one is asked for; the kind of change and q (what p costs over all
    parts) have none where nothing is known of them.
    """
    chosen = (
        transitions[transitions["verdict"].isin(verdicts)] if "verdict" in transitions else transitions[:0]
    )
    if len(chosen):
        rank = chosen["verdict"].astype(str).map({verdict: index for index, verdict in enumerate(VERDICTS)})
        ordered = chosen.assign(_rank=rank.astype(int), _step=column(chosen, "step"))
        chosen = ordered.sort_values(["_rank", "_step"], kind="stable")
    columns, rows = _columns(chosen), tuple(_row(row) for _, row in chosen.iterrows())
    left_out = {title for title in OPTIONAL if not _has(chosen, title)}
    left_out |= {"verdict"} if len(verdicts) == 1 else set()
    kept = [index for index, each in enumerate(columns) if each.title not in left_out]
    columns = tuple(columns[index] for index in kept)
    rows = tuple(tuple(row[index] for index in kept) for row in rows)
    note = f"{len(rows):,} of {plural(len(transitions), 'series', 'series')} looked at."
    return Figure("Transitions", (Panel("Transitions", (Table(columns, rows),)),), note=note)


def _columns(chosen: pd.DataFrame) -> tuple[Column, ...]:
    levels = {level for level in column(chosen, "level") if level == level}
    if len(levels) != 1:
        return COLUMNS
    title = f"{100 * levels.pop():g} % interval"
    return tuple(Column(title, "interval") if each.kind == "interval" else each for each in COLUMNS)


def _has(chosen: pd.DataFrame, name: str) -> bool:
    """Whether any row has something in a column."""
    return name in chosen and bool((chosen[name].notna() & (chosen[name].astype("string") != "")).any())


def _number(row: pd.Series, name: str) -> float | None:
    value = row.get(name)
    return None if value is None or pd.isna(value) else float(value)


def _row(row: pd.Series) -> tuple[Cell, ...]:
    low, high = _number(row, "low"), _number(row, "high")
    return (
        words(text_of(row, "part")),
        place_words(row),
        words(text_of(row, "stimulus_name")),
        text_of(row, "verdict"),
        text_of(row, "kind"),
        _number(row, "step"),
        None if low is None and high is None else (low, high),
        _number(row, "size"),
        text_of(row, "unit"),
        _number(row, "p"),
        _number(row, "q"),
        text_of(row, "reason"),
    )
