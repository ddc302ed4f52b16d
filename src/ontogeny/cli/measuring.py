"""`ontogeny measure`: here with a bar, on Ray with a table, or priced only."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import torch
from rich.table import Table

from ontogeny.audit import Audit, look_over
from ontogeny.catalogue.calls import split_calls
from ontogeny.cli.stages import bars, console
from ontogeny.cli.sweep import Board, told_of
from ontogeny.errors import BadContract
from ontogeny.measure import explain, measure
from ontogeny.measure.asked import EVERYTHING
from ontogeny.measure.budget import seconds_of
from ontogeny.series import Series
from ontogeny.sweep import measure_many

#: Said on the terminal where checkpoints are not what their names say.
TOLD_ERRORS = "these checkpoints are not what their names say: see `ontogeny audit`"
#: Parts that `--explain` names, the dearest first; the rest are counted.
NAMED = 20


@dataclass(frozen=True)
class How:
    """What is asked for, and with what."""

    parts: Sequence[str] = ()
    budget: float | None = None
    workers: int = 1
    engine: str = "local"
    text: Path | None = None

    @classmethod
    def of(
        cls, parts: str, everything: bool, budget: str, workers: int, engine: str, text: Path | None
    ) -> Self:
        """From words; BadContract for a duration that cannot be read."""
        try:
            seconds = seconds_of(budget) if budget else None
        except ValueError as error:
            raise BadContract(
                "a budget that cannot be read", received=budget, allowed="90s, 15min, 2h"
            ) from error
        names = split_calls(parts)
        return cls([*names, EVERYTHING] if everything else names, seconds, workers, engine, text)


def measure_series(opened: Sequence[Series], how: How) -> bool:
    """Measure all of them; whether nothing failed. What fails here is raised, on Ray it is told."""
    torch.set_num_threads(1)
    if how.engine != "local":
        return _measure_far(opened, how)
    for one in opened:
        measure_one(one, how)
    return True


def tell_of(found: Audit) -> None:
    """What an audit found, before anything is measured: errors loudly, the rest line by line."""
    for one in found.found:
        loud = "bold red" if one in found.errors else ""
        console.print(f"{one.severity}: {one.kind}: {one.seen} ({one.meaning})", markup=False, style=loud)
    if not found.sound:
        console.print(f"{TOLD_ERRORS}; measured all the same", style="bold red")


def measure_one(series: Path | Series, how: How) -> None:
    """Measure one run or series, with a bar."""
    path = series.path if isinstance(series, Series) else series
    with bars() as progress:
        task = progress.add_task(f"measure {path.name}", total=None, note="checkpoints")
        count = measure(
            series,
            how.parts,
            text=how.text,
            workers=how.workers,
            budget=how.budget,
            audited=tell_of,
            begin=lambda steps: progress.update(task, total=len(steps)),
            done=lambda step: progress.advance(task),
        )
    console.print(f"{path}: {count} checkpoints measured" if count else f"{path}: nothing was missing")


def _measure_far(opened: Sequence[Series], how: How) -> bool:
    """All series together on another engine's workers, with a table; its account lies with the first."""
    home = opened[0].home if len(opened) == 1 else opened[0].path.parent
    home.mkdir(parents=True, exist_ok=True)
    for one in opened:
        tell_of(look_over(one))
    with Board(f"measure {home.name}", 0) as board:
        ledger = measure_many(
            opened,
            home,
            how.parts,
            text=how.text,
            budget=how.budget,
            workers=how.workers,
            engine=how.engine,
            begin=lambda count: setattr(board, "total", count),
            hear=board.hear,
        )
    return told_of(home, ledger, "pieces of measuring")


def explain_measuring(opened: Sequence[Series], how: How) -> None:
    """`ontogeny measure --explain`."""
    torch.set_num_threads(1)
    for one in opened:
        price = explain(one, how.parts, text=how.text, budget=how.budget)
        table = Table("stimulus", "what is run", "parts", title=str(one.path), title_justify="left")
        for line in price.stimuli:
            table.add_row(*line)
        console.print(table)
        costs = Table("part", "ms a checkpoint, by itself", "", title_justify="left")
        for name, seconds, refused in price.parts[:NAMED]:
            costs.add_row(name, f"{1000 * seconds:.1f}", refused)
        if len(price.parts) > NAMED:
            costs.add_row(f"and {len(price.parts) - NAMED} cheaper ones", "", "")
        console.print(costs)
        console.print(
            f"{price.checkpoints} checkpoints to do; passes about {price.seconds:.0f} s on one thread "
            f"(plain forwards alone {price.plain_seconds:.0f} s)"
        )
