"""What `ontogeny detect` tells: transitions of one run, of runs that repeat one another, and their order."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from rich import box
from rich.table import Table

from ontogeny.audit import kept
from ontogeny.cli.stages import console
from ontogeny.detect import claimed
from ontogeny.views.tables import short_place

#: Said where nothing can be printed.
NOTHING = "–"
TOO_SMALL = "too small to tell"


def print_errors(home: Path) -> None:
    """The errors that an audit found before checkpoints were measured, if any; the same for everybody."""
    found = kept(home)
    for one in () if found is None else found.errors:
        console.print(f"error: {one.kind}: {one.seen} ({one.meaning})", markup=False, style="bold red")


def print_transitions(name: str, found: pd.DataFrame) -> None:
    """Claimed transitions, one a part and stimulus, and how many series gave none."""
    best = claimed(found)
    if best.empty:
        console.print(f"{name}: no transition can be claimed{_why(found)}", markup=False)
    else:
        table = _table("part", "place", "stimulus", "step", "95 % interval", "size", "p", "q", title=name)
        for row in best.to_dict("records"):
            cells = (row["part"], _place(row), row["stimulus_name"], _number(row["step"], ".0f"))
            size = _size(row)
            table.add_row(
                *cells, _interval(row, ".0f"), size, *(_number(row.get(key), ".2g") for key in "pq")
            )
        console.print(table)
    counts = found["verdict"].value_counts().to_dict()
    said = [f"{count} {verdict}" for verdict, count in sorted(counts.items())]
    small = int(found["reason"].str.startswith(TOO_SMALL).sum()) if len(found) else 0
    said += [f"{small} of them {TOO_SMALL}"] if small else []
    nothing = "nothing was measured at two steps or more, so nothing can have changed"
    console.print(f"{name}: {len(found)} series looked at: {', '.join(said) or nothing}")


def _why(found: pd.DataFrame) -> str:
    """The reason, where all series have the same."""
    reasons = set(found["reason"])
    return f": {reasons.pop()}" if len(reasons) == 1 else ""


def print_seeds(label: str, found: pd.DataFrame) -> None:
    """What runs of one configuration say together: what some of them claim, and what none does."""
    shown = found[found["shown"] > 0]
    controlled = bool(found["controls"].notna().any())
    names = ["part", "place", "stimulus", "shown", *(["in controls"] if controlled else [])]
    names += ["step", "95 %", "median", "size", "p", "p of all"]
    best = bool((found["by"] == "best").all())
    table = _table(
        *names, title=label, caption=f"{'the best' if best else 'the same'} place of each run; 95 % over runs"
    )
    for row in shown.to_dict("records"):
        cells = [
            row["part"],
            row["where"] or _place(row),
            row["stimulus_name"],
            f"{row['shown']} of {row['runs']}",
        ]
        cells += [f"{row['controls_shown']} of {row['controls']}"] if controlled else []
        cells += [_number(row["step"], ".0f"), _interval(row, ".0f"), _number(row["median"], ".0f")]
        size = _size(row)
        table.add_row(*cells, size, *(_number(row[key], ".2g") for key in ("p", "p_family")))
    if len(shown):
        console.print(table)
    for reason, rows in shown[shown["reason"] != ""].groupby("reason", sort=False):
        console.print(f"{', '.join(dict.fromkeys(rows['part']))}: {reason}", markup=False)
    for part, rows in shown[shown["seeds_needed"].notna()].groupby("part", sort=False):
        needed = int(rows["seeds_needed"].max())
        console.print(f"{part}: {needed} seeds an arm would show a step earlier or later by a factor of 1.2")
    missing = len(found) - len(shown)
    console.print(f"{label}: {len(found)} looked for, {missing} claimed in no run")


def print_leads(found: pd.DataFrame) -> None:
    """How much earlier one change was than another, run by run and over runs."""
    first, second = found.iloc[0][["first", "second"]]
    title = f"lead of {first} over {second}, log10 of the ratio of steps"
    steps = (f"step of {name}" for name in (first, second))
    table = _table("run", *steps, "lead", "95 % interval", "earlier", "p", title=title)
    for row in found.to_dict("records"):
        when = (_number(row[key], ".0f") for key in ("first_step", "second_step"))
        gap = _number(row["lead"], "+.3f"), _interval(row, "+.3f"), row["earlier"]
        table.add_row(row["run"] or f"mean of {row['n']}", *when, *gap, _number(row["p"], ".2g"))
    console.print(table)
    for row in found[found["reason"] != ""].to_dict("records"):
        console.print(f"{row['run'] or 'over runs'}: {row['reason']}", markup=False)


#: Columns whose cells are not broken where there is room.
WHOLE = ("part", "place", "stimulus", "run", "shown", "in controls", "step", "median", "size", "p", "q")
#: From this width of the terminal on, sizes are told with their units.
ROOMY = 100


def _table(*columns: str, **said: Any) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), title_justify="left", **said)
    for column in columns:
        table.add_column(column, overflow="fold", no_wrap=column in WHOLE and console.width >= 80)
    return table


def _place(row: Mapping[Any, Any]) -> str:
    return short_place(pd.Series(row)) or "whole model"


def _size(row: Mapping[Any, Any]) -> str:
    unit = row["unit"] if console.width >= ROOMY else ""
    return f"{row['size']:+.3g} {unit}".rstrip()


def _number(value: float | None, form: str) -> str:
    return NOTHING if pd.isna(value) else f"{value:{form}}"


def _interval(row: Mapping[Any, Any], form: str) -> str:
    low, high = row["low"], row["high"]
    return (
        NOTHING
        if pd.isna(low) or pd.isna(high)
        else f"{low:{form}} to {high:{form}}"
        if low < 0
        else f"{low:{form}}–{high:{form}}"
    )
