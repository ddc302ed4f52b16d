"""Many runs from the command line, with a table of who is at what."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.live import Live
from rich.table import Table

from ontogeny.cli.stages import console
from ontogeny.store.collection import Runs
from ontogeny.sweep import Ledger, Planned, State, load_grid, measure_many, seeded, seeds, sweep

#: Rows of the table at most; the rest are counted below it.
SHOWN = 16


class Board:
    """What a sweep's tasks are at, drawn while output is a terminal; ends of tasks are lines elsewhere."""

    def __init__(self, title: str, total: int) -> None:
        self.title, self.total, self.started = title, total, time.monotonic()
        self.states: dict[str, State] = {}
        self.facts: dict[str, dict[str, Any]] = {}
        self.live = Live(get_renderable=self.table, console=console, refresh_per_second=2, transient=True)

    def __enter__(self) -> "Board":
        if console.is_terminal:
            self.live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if console.is_terminal:
            self.live.stop()

    def hear(self, name: str, state: State, facts: dict[str, Any]) -> None:
        """An engine's `hear`."""
        self.states[name] = state
        self.facts[name] = {**self.facts.get(name, {}), **facts}
        if state is State.FAILED or (state is State.WAITING and facts.get("reason")):
            console.print(f"{name}: {_first_line(facts['reason'])}; {_next(state)}")
        elif state is State.FINISHED and not console.is_terminal:
            console.print(f"{name}: finished")

    def table(self) -> Table:
        """Running and retried tasks, and counts of all."""
        found = Table("task", "state", "step", "loss", title=self.title, title_justify="left")
        active = [n for n, state in self.states.items() if state in (State.RUNNING, State.WAITING)]
        for name in active[:SHOWN]:
            facts = self.facts[name]
            step = f"{facts['step']} of {facts['steps']}" if "steps" in facts else ""
            found.add_row(name, self.states[name], step, f"{facts['loss']:.3f}" if "loss" in facts else "")
        over = [sum(state is one for state in self.states.values()) for one in (State.FINISHED, State.FAILED)]
        minutes = (time.monotonic() - self.started) / 60
        found.caption = f"{over[0]} of {self.total} finished, {over[1]} failed; {minutes:.1f} minutes"
        return found


def train_seeds(
    name: str, chosen: str, out: Path | None, overrides: list[str], grade: bool, workers: int, engine: str
) -> bool:
    """`ontogeny train --seeds`; whether all runs finished."""
    plan = seeded(name, seeds(chosen), overrides)
    return run_plan(plan, out or Path("runs") / Path(name).stem, workers, engine, grade)


def sweep_grid(
    grid: Path, out: Path | None, overrides: list[str], grade: bool, workers: int, engine: str, measure: bool
) -> bool:
    """`ontogeny sweep`; whether all tasks finished."""
    folder = out or Path("runs") / grid.stem
    whole = run_plan(load_grid(grid, overrides), folder, workers, engine, grade)
    return (measure_runs(folder, workers, engine) and whole) if measure else whole


def run_plan(plan: Sequence[Planned], folder: Path, workers: int, engine: str, grade: bool) -> bool:
    """Sweep with a table; whether all runs finished."""
    console.print(f"{folder}: {len(plan)} runs on {workers} workers ({engine})")
    with Board(f"sweep {folder.name}", len(plan)) as board:
        ledger = sweep(plan, folder, workers=workers, engine=engine, grade=grade, hear=board.hear)
    return told_of(folder, ledger, "runs")


def measure_runs(folder: Path, workers: int, engine: str) -> bool:
    """Measure every run of a collection that has finished, with a table; whether nothing failed."""
    runs = [run for run in Runs.open(folder) if run.outcome == "finished"]
    with Board(f"measure {folder.name}", 0) as board:
        ledger = measure_many(
            runs,
            folder,
            workers=workers,
            engine=engine,
            begin=lambda count: setattr(board, "total", count),
            hear=board.hear,
        )
    return told_of(folder, ledger, "pieces of measuring")


def told_of(folder: Path, ledger: Ledger, what: str) -> bool:
    """Say what became of all tasks; whether none failed."""
    failed = ledger.names(State.FAILED)
    finished = len(ledger.names(State.FINISHED))
    console.print(f"{folder}: {finished} {what} finished, {len(failed)} failed; see {ledger.path.name}")
    for name in failed:
        console.print(f"  {name}, after {ledger[name].attempts} attempt(s): {ledger[name].reasons[-1]}")
    return not failed


def _first_line(reason: str) -> str:
    return reason.splitlines()[0] if reason else "no reason given"


def _next(state: State) -> str:
    return "the others go on" if state is State.FAILED else "it is tried again"
