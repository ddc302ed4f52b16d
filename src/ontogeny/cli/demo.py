"""`ontogeny demo`: two models trained side by side, measured, and a report on what formed in them."""

import subprocess
import sys
import time
from pathlib import Path

import torch

from ontogeny.cli.findings import print_transitions
from ontogeny.cli.measuring import How, measure_one
from ontogeny.cli.stages import bars, console, told
from ontogeny.detect import detect
from ontogeny.record.estimate import estimate
from ontogeny.record.recipe import load_recipe
from ontogeny.record.training import Training, objective_of
from ontogeny.report import write_report
from ontogeny.report.gather import run_tables
from ontogeny.store.journal import read_journal
from ontogeny.store.run import MANIFEST, Run

RECIPES = ("letters", "induction")
WORKERS = 2


def demo(out: Path) -> None:
    """Train what is not trained, measure what is not measured, and write the report."""
    torch.set_num_threads(1)
    started = time.monotonic()
    missing = [name for name in RECIPES if not _finished(out / name)]
    if missing:
        _train(out, missing)
    for name in RECIPES:
        measure_one(out / name, How(workers=WORKERS))
    for name in RECIPES:
        print_transitions(name, detect(out / name))
    page = out / "report.html"
    write_report(page, runs=[run_tables(Run.open(out / name)) for name in RECIPES])
    console.print(f"{time.monotonic() - started:.0f} s in all")
    console.print(f"report: {page}", style="bold")
    console.print(f"look further: ontogeny dashboard {out}", style="bold")


def _finished(path: Path) -> bool:
    """Whether a run is there and at its end; what a stopped demo left is taken up again."""
    return (path / MANIFEST).exists() and Run.open(path).outcome == "finished"


def _train(out: Path, names: list[str]) -> None:
    """One process a recipe, so that two cores are busy; their journals tell how far they are."""
    steps = {}
    for name in names:
        recipe = load_recipe(name)
        steps[name] = recipe.training.steps
        training = Training(recipe, objective_of(recipe, out / name))
        console.print(f"{name}: {told(estimate(training))}")
    children = {
        name: subprocess.Popen(
            [sys.executable, "-m", "ontogeny", "train", *_what(out, name)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in names
    }
    try:
        _follow(out, children, steps)
    except BaseException:
        for child in children.values():
            child.terminate()
        raise


def _what(out: Path, name: str) -> list[str]:
    """A run that was begun is resumed; the others are trained."""
    if (out / name / MANIFEST).exists():
        return ["--resume", str(out / name)]
    return [name, "--out", str(out / name)]


def _follow(out: Path, children: dict[str, subprocess.Popen], steps: dict[str, int]) -> None:
    with bars() as progress:
        tasks = {name: progress.add_task(f"train {name}", total=steps[name], note="") for name in children}
        while any(child.poll() is None for child in children.values()):
            time.sleep(0.5)
            for name, task in tasks.items():
                progress.update(task, completed=_step_reached(out / name))
        for name, task in tasks.items():
            progress.update(task, completed=steps[name])
    for child in children.values():
        if child.wait():
            complaint = child.stderr.read() if child.stderr else ""
            sys.stderr.write(complaint)
            sys.exit(child.returncode)


def _step_reached(path: Path) -> int:
    journals = sorted((path / "journal").glob("*.journal"))
    if not journals:
        return 0
    steps = read_journal(journals[-1], ()).steps
    return int(steps[-1]) if len(steps) else 0
