"""The stages as a user runs them, with progress on the terminal."""

from pathlib import Path

import torch
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from ontogeny.audit import kept
from ontogeny.detect import claimed, detect
from ontogeny.record.estimate import Estimate
from ontogeny.record.recipe import load_recipe
from ontogeny.record.train import planned_end, resume, train
from ontogeny.report import RunTables, write_report
from ontogeny.report.gather import run_tables, series_tables
from ontogeny.series import Series, home_of
from ontogeny.store.collection import Runs, open_runs
from ontogeny.store.run import MANIFEST, Run

console = Console(highlight=False)


def bars(transient: bool = False) -> Progress:
    """Progress bars in one style; nothing is drawn where output is not a terminal."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=32),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}"),
        TimeRemainingColumn(),
        console=console,
        transient=transient,
        disable=not console.is_terminal,
    )


def told(estimate: Estimate) -> str:
    """The estimate in one line."""
    disk, memory = estimate.bytes / 1e6, estimate.memory_bytes / 1e6
    return (
        f"about {estimate.seconds:.0f} s for {estimate.steps} steps in {memory:.0f} MB of memory; "
        f"{estimate.checkpoints} checkpoints, all kept, {disk:.0f} MB"
    )


def train_recipe(name: str, out: Path | None, overrides: list[str], grade: bool) -> None:
    """`ontogeny train`."""
    torch.set_num_threads(1)
    recipe = load_recipe(name, overrides)
    path = out or Path("runs") / Path(name).stem
    with bars() as progress:
        task = progress.add_task(path.name, total=recipe.training.steps, note="")
        run = train(
            recipe,
            path,
            grade=grade,
            begin=lambda estimate: console.print(f"{path}: {told(estimate)}"),
            progress=lambda step, found: progress.update(task, completed=step, note=f"loss {found.loss:.3f}"),
        )
    console.print(f"{path}: finished, grade {run.grade} ({run.identity['grade']['reason']})")
    console.print(f"next: ontogeny measure {path} && ontogeny detect {path} && ontogeny report {path}")


def resume_run(path: Path) -> None:
    """`ontogeny train --resume`."""
    torch.set_num_threads(1)
    before = Run.open(path)
    with bars() as progress:
        task = progress.add_task(path.name, total=planned_end(before), note="")
        run = resume(
            path,
            progress=lambda step, found: progress.update(task, completed=step, note=f"loss {found.loss:.3f}"),
        )
    taken = (
        "was finished already" if run.attempts == before.attempts else f"finished in attempt {run.attempts}"
    )
    console.print(f"{path}: {taken}, grade {run.grade}")


def runs_below(path: Path) -> list[Path]:
    """A run or a series is itself; a folder of runs is its runs."""
    if not (path / MANIFEST).exists() and any(path.glob(f"*/{MANIFEST}")):
        return [run.path for run in Runs.open(path)]
    return [path]


def series_below(
    path: Path, out: Path | None, pattern: str | None, tokens: float | None, trust: bool
) -> list[Series]:
    """What is to be measured at a path, and what one should know of it on the terminal."""
    opened = [Series.open(one, out, pattern=pattern, tokens=tokens, trust=trust) for one in runs_below(path)]
    for note in (note for one in opened for note in one.notes):
        console.print(f"note: {note}", markup=False)
    return opened


def detect_in(path: Path, parts: list[str], detector: str, out: Path | None) -> None:
    """`ontogeny detect`: the claims, and a count of what was looked for and not claimed."""
    for one in runs_below(path):
        print_transitions(one.name, detect(one, parts, detector=detector, home=out))
        print_errors(home_of(one, out))


def print_errors(home: Path) -> None:
    """The errors that an audit found before checkpoints were measured, if any; the same for everybody."""
    found = kept(home)
    for one in () if found is None else found.errors:
        console.print(f"error: {one.kind}: {one.seen} ({one.meaning})", markup=False, style="bold red")


def print_transitions(name: str, found) -> None:
    """Claimed transitions, one a part and stimulus, and how many series gave none."""
    best = claimed(found)
    if best.empty:
        console.print(f"{name}: no transition can be claimed")
    else:
        table = Table("part", "place", "stimulus", "step", "95 % interval", "size", "p", title=name)
        for row in best.to_dict("records"):
            place = " ".join(
                f"{a} {row[a]}" for a in ("layer", "head", "matrix") if isinstance(row[a], int | str)
            )
            interval = f"{row['low']:.0f} to {row['high']:.0f}"
            cells = (row["part"], place, row["stimulus_name"], f"{row['step']:.0f}", interval)
            table.add_row(*cells, f"{row['size']:+.3g} {row['unit']}", f"{row['p']:.3f}")
        console.print(table)
    counts = found["verdict"].value_counts().to_dict()
    said = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
    one = "nothing was measured at two steps or more, so nothing can have changed"
    console.print(f"{name}: {len(found)} series looked at: {said or one}")


def write_runs_report(paths: list[Path], out: Path, home: Path | None) -> None:
    """`ontogeny report`."""
    tables = [table for path in paths for table in _tables_at(path, home)]
    write_report(out, runs=tables)
    console.print(f"{out}: {out.stat().st_size / 1e6:.1f} MB, {len(tables)} runs; open it in any browser")


def _tables_at(path: Path, home: Path | None) -> list[RunTables]:
    """Of a run, of every run of a folder, or of checkpoints that are no run."""
    if (path / MANIFEST).exists() or any(path.glob(f"*/{MANIFEST}")):
        return [run_tables(run) for run in open_runs(path)]
    return [series_tables(path, home)]
