"""Sweeps: every run of a plan trained or taken up again, in one folder, on several workers."""

import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ontogeny.errors import NonfiniteLoss, NotReplayable, RunExists, RunHeld
from ontogeny.record.grade import Repetition
from ontogeny.record.recipe import Recipe
from ontogeny.record.restoring import earlier_checkpoint
from ontogeny.record.train import planned_end, resume, train
from ontogeny.store.files import named_errors
from ontogeny.store.lock import held
from ontogeny.store.run import MANIFEST, Run
from ontogeny.sweep.engine import Hear, crew_of, work_through
from ontogeny.sweep.grid import Planned
from ontogeny.sweep.ledger import Ledger, State
from ontogeny.sweep.task import Task, Tell

LEDGER = "sweep.json"
#: Beginnings of runs from which nothing can be resumed; too deep to be taken for runs of the collection.
ASIDE = "aside"
#: How long a run's former worker may take to stop, where its sweep was killed a moment ago.
HELD_SECONDS = 60.0


def sweep(
    plan: Sequence[Planned],
    folder: Path | str,
    *,
    workers: int = 1,
    engine: str = "local",
    grade: bool = True,
    hear: Hear = lambda name, state, facts: None,
) -> Ledger:
    """Train every run of a plan in `folder/NAME`; returns what became of each.

    A finished run is left alone, a stopped or killed one resumed, and one that was killed before anything
    could be resumed is moved to `aside/` and begun anew: the same call continues an interrupted sweep. A run
    whose worker dies is tried three times in all, then marked failed with the reason; the others go on.
    `sweep.json` tells the state, the attempts and the reasons.

    Errors, before anything is trained: RunExists if a folder of the plan holds a run of another recipe,
    RunHeld if another process sweeps this folder, NotWritable. KeyboardInterrupt (Stopped) leaves all runs
    resumable.
    """
    folder = Path(folder).absolute()
    with named_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with held(folder, "sweep", "swept", (".",)):
        for planned in plan:
            require_same(folder / planned.name, planned.recipe)
        ledger = Ledger(folder / LEDGER, [one.name for one in plan], engine=engine, workers=workers)
        tasks = []
        for one in plan:
            if _finished(folder / one.name):
                ledger[one.name].state = State.FINISHED
                hear(one.name, State.FINISHED, {})
            else:
                arguments = (str(folder / one.name), one.recipe.document(), grade)
                tasks.append(Task(one.name, train_or_resume, arguments))
        if tasks:
            work_through(tasks, crew_of(engine, workers), ledger, hear)
        ledger.write(now=True)
    return ledger


def train_or_resume(folder: str, document: dict[str, Any], grade: bool, tell: Tell) -> None:
    """Bring one run to its end, whatever state it is in; nothing that can be resumed is trained twice."""
    path, recipe = Path(folder), Recipe.from_document(document)
    require_same(path, recipe)

    def progress(step: int, found: Any) -> None:
        tell(step=step, loss=found.loss, steps=recipe.training.steps)

    if (path / MANIFEST).exists():
        _until_free(path)
        run = Run.open(path)
        if run.outcome == "finished":
            return
        _refuse_nonfinite(run)
        if _resumable(run):
            resume(path, progress=progress)
            if grade:
                _earn_grade(Run.open(path))
            return
        put_aside(run)
    train(recipe, path, progress=progress, grade=grade)


def require_same(path: Path, recipe: Recipe) -> None:
    """RunExists if a folder holds a run of another recipe, a branch, or a run under interventions."""
    if not (path / MANIFEST).exists():
        return
    run = Run.open(path)
    elsewhere = run.identity.get("parent") or run.identity.get("interventions")
    if elsewhere or run.identity.get("recipe_hash") != recipe.hash:
        raise RunExists(
            f"{path} holds another run",
            received=run.identity.get("title") or "a run without a title",
            allowed="the run that this sweep would make, or nothing",
            remedy="sweep into another folder, or remove that run",
        )


def put_aside(run: Run) -> Path:
    """Move a run out of its collection, to `aside/NAME-0`, `-1` …; nothing is deleted."""
    folder = run.path.parent / ASIDE
    with named_errors(folder), run.held():
        folder.mkdir(exist_ok=True)
        taken = {path.name for path in folder.iterdir()}
        number = next(n for n in range(len(taken) + 1) if f"{run.name}-{n}" not in taken)
        return run.path.rename(folder / f"{run.name}-{number}")


def _finished(path: Path) -> bool:
    return (path / MANIFEST).exists() and Run.open(path).outcome == "finished"


def _refuse_nonfinite(run: Run) -> None:
    """NonfiniteLoss again, if the last attempt ended in one: further steps would only repeat it."""
    ends = [note.data.get("reason", "") for note in run.notes if note.kind == "end"]
    if ends and ends[-1].startswith(NonfiniteLoss.__name__):
        raise NonfiniteLoss(
            f"{run.path} ended with a loss that is not finite",
            received=ends[-1].splitlines()[0],
            remedy="change its recipe; the run holds everything up to that step",
        )


def _resumable(run: Run) -> bool:
    try:
        earlier_checkpoint(run, planned_end(run))
    except NotReplayable:
        return False
    return True


def _until_free(path: Path) -> None:
    """Wait for the run's lock, a while; RunHeld if its holder goes on."""
    deadline = time.monotonic() + HELD_SECONDS
    while True:
        try:
            with Run.open(path).held():
                return
        except RunHeld:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.5)


def _earn_grade(run: Run) -> None:
    """The grade that the interrupted attempt had no time to earn."""
    grade = Repetition(run, planned_end(run)).grade()
    with run.held():
        run.update_identity(grade=asdict(grade))
