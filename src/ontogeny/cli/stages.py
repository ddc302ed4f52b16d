"""The stages as a user runs them, with progress on the terminal."""

from pathlib import Path

import torch
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from ontogeny.detect import read_seeds
from ontogeny.errors import BadArgument
from ontogeny.record.estimate import Estimate
from ontogeny.record.recipe import load_recipe
from ontogeny.record.train import planned_end, resume, train
from ontogeny.report import RunTables, write_report
from ontogeny.report.figures import figure_of
from ontogeny.report.gather import run_tables, series_tables
from ontogeny.report.printing import print_figure
from ontogeny.series import Series
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


def write_runs_report(paths: list[Path], out: Path, home: Path | None, static: bool = False) -> None:
    """`ontogeny report`."""
    tables = [table for path in paths for table in _tables_at(path, home)]
    write_report(out, runs=tables, static=static, seeds=read_seeds(paths))
    console.print(f"{out}: {out.stat().st_size / 1e6:.1f} MB, {len(tables)} runs; open it in any browser")


def write_figure(
    path: Path, view: str, out: Path, given: list[str], width: float, theme: str, home: Path | None
) -> None:
    """`ontogeny figure`."""
    parameters = {name: value for name, _, value in (one.partition("=") for one in given)}
    found = _tables_at(path, home)
    if len(found) != 1:
        raise BadArgument("a figure is of one run", received=f"{path} with {len(found)} runs")
    print_figure(figure_of(found[0], view, parameters), out, width=width, theme=theme)
    console.print(f"{out}: {out.stat().st_size / 1e3:.0f} kB", markup=False)


def _tables_at(path: Path, home: Path | None) -> list[RunTables]:
    """Of a run, of every run of a folder, or of checkpoints that are no run."""
    if (path / MANIFEST).exists() or any(path.glob(f"*/{MANIFEST}")):
        return [run_tables(run) for run in open_runs(path)]
    return [series_tables(path, home)]
