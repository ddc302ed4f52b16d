"""Measuring many runs on several workers: a lost worker loses nothing, and nothing is measured twice."""

import os
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from ontogeny.errors import OntogenyError
from ontogeny.measure import Request, Session
from ontogeny.measure.workers import measure_steps
from ontogeny.store.arrays import compact_arrays
from ontogeny.store.lock import held
from ontogeny.store.rows import compact_rows
from ontogeny.store.run import Run
from ontogeny.sweep.engine import Hear, crew_of, work_through
from ontogeny.sweep.ledger import Ledger
from ontogeny.sweep.task import Task, Tell

LEDGER = "measuring.json"
#: Checkpoints in one task: the worker opens the run once for all of them.
CHUNK = 8

#: The session of this worker's last task, which the next one on the same run goes on with.
_opened: list[Session] = []


def measure_many(
    runs: Sequence[Run],
    home: Path | str,
    parts: Sequence[str] = (),
    *,
    workers: int = 1,
    engine: str = "local",
    begin: Callable[[int], None] = lambda tasks: None,
    hear: Hear = lambda name, state, facts: None,
) -> Ledger:
    """Measure what is missing at every checkpoint of every run; the collection's folder `home` gets the
    account, `measuring.json`.

    A task is a few checkpoints of one run, called `RUN:FIRST-LAST` after its steps. Every checkpoint's rows
    are a file, so a worker that dies loses only the checkpoint in its hands; its task is tried three times in
    all, skips what is there, and is then marked failed with the reason. RunHeld if another process measures
    one of the runs, or sweeps `home`.
    """
    home = Path(home).absolute()
    tasks, belongs = _tasks(runs, home, parts)
    left = Counter(belongs.values())
    begin(len(tasks))
    with ExitStack() as stack:
        stack.enter_context(held(home, "sweep", "swept", (".",)))
        measured: dict[Path, ExitStack] = {}

        def starting(task: Task) -> None:
            path = belongs[task.name]
            if path not in measured:
                measured[path] = stack.enter_context(ExitStack())
                measured[path].enter_context(held(path, "measuring", "measured", ("rows", "arrays", "fits")))

        def over(task: Task) -> None:
            path = belongs[task.name]
            left[path] -= 1
            if not left[path]:
                with suppress(OntogenyError):  # many files are read as well; damage is its task's reason
                    compact_rows(path)
                    compact_arrays(path)
                measured[path].close()

        crew = crew_of(engine, workers)
        ledger = Ledger(home / LEDGER, [task.name for task in tasks], engine=engine, workers=workers)
        work_through(tasks, crew, ledger, hear, starting, over)
    return ledger


def measure_checkpoints(request: Request, steps: tuple[int, ...], tell: Tell) -> None:
    """Measure what is missing at some checkpoints of one run, in this process."""
    if not _opened or _opened[0].request != request:
        _opened[:] = [Session(request)]
    measured = []

    def done(step: int) -> None:
        measured.append(step)
        tell(step=len(measured), steps=len(steps))

    measure_steps(_opened[0], list(steps), 1, done).require_all()


def _tasks(runs: Sequence[Run], home: Path, parts: Sequence[str]) -> tuple[list[Task], dict[str, Path]]:
    """Tasks in the order of runs, and the folder of the run that each belongs to."""
    tasks, belongs = [], {}
    for run in runs:
        path = run.path.absolute()
        steps = [checkpoint.step for checkpoint in run.checkpoints]
        for start in range(0, len(steps), CHUNK):
            chunk = tuple(steps[start : start + CHUNK])
            name = f"{os.path.relpath(path, home)}:{chunk[0]}-{chunk[-1]}"
            tasks.append(Task(name, measure_checkpoints, (Request(path, None, tuple(parts)), chunk)))
            belongs[name] = path
    return tasks, belongs
