"""Measuring many series on several workers: a lost worker loses nothing, and nothing is measured twice."""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from ontogeny.errors import OntogenyError
from ontogeny.measure import Request, Session
from ontogeny.measure.asked import asked_parts
from ontogeny.measure.summaries import summarise
from ontogeny.measure.workers import measure_steps
from ontogeny.series import Series
from ontogeny.store.arrays import compact_arrays
from ontogeny.store.fits import compact_fits
from ontogeny.store.lock import held
from ontogeny.store.rows import compact_rows
from ontogeny.store.run import Run
from ontogeny.sweep.engine import Hear, crew_of, work_through
from ontogeny.sweep.ledger import Ledger
from ontogeny.sweep.task import Task, Tell

LEDGER = "measuring.json"
#: Checkpoints in one task: the worker opens the series once for all of them.
CHUNK = 8
#: What a pass over no stimulus is called: parts that need weights alone.
WEIGHTS = "weights"

#: The session of this worker's last task, which the next one on the same series goes on with.
_opened: list[Session] = []


def measure_many(
    series: Sequence[Run | Series],
    home: Path | str,
    parts: Sequence[str] = (),
    *,
    text: Path | None = None,
    budget: float | None = None,
    workers: int = 1,
    engine: str = "local",
    begin: Callable[[int], None] = lambda tasks: None,
    hear: Hear = lambda name, state, facts: None,
) -> Ledger:
    """Measure what is missing at every checkpoint of every series, runs among them; the folder `home` gets
    the account, `measuring.json`. `text` and `budget` (of each series) as for `measure`.

    A task is a few checkpoints of one series, called `NAME:FIRST-LAST` after its steps; on Ray it is one
    pass over one checkpoint, `NAME:STEP:STIMULUS`. Every task writes a file of rows for each checkpoint, so a
    worker that dies loses only the one in its hands; its task is tried three times in all, skips what is
    there, and is then marked failed with the reason. Summaries are made in this process when a series is
    through.
    RunHeld if another process measures one of the series, or sweeps `home`.
    """
    home = Path(home).absolute()
    requests = [_request(one, parts, text, budget) for one in series]
    work = [(task, index) for index, one in enumerate(requests) for task in _tasks(one, home, engine)]
    belongs = {task.name: index for task, index in work}
    left = Counter(belongs.values())
    begin(len(work))
    with ExitStack() as stack:
        stack.enter_context(held(home, "sweep", "swept", (".",)))
        measured: dict[int, ExitStack] = {}

        def starting(task: Task) -> None:
            index = belongs[task.name]
            if index not in measured:
                path = _home(requests[index])
                path.mkdir(parents=True, exist_ok=True)
                measured[index] = stack.enter_context(ExitStack())
                measured[index].enter_context(held(path, "measuring", "measured", ("rows", "arrays", "fits")))
                if budget is not None:
                    _ = Session(requests[index]).dear  # priced once, before any worker asks

        def over(task: Task) -> None:
            index = belongs[task.name]
            left[index] -= 1
            if not left[index]:
                try:
                    _finish(requests[index])
                except OntogenyError as error:
                    ledger[task.name].reasons.append(f"its summaries: {error.what}")
                measured[index].close()

        crew = crew_of(engine, workers)
        ledger = Ledger(home / LEDGER, [task.name for task, _ in work], engine=engine, workers=workers)
        work_through([task for task, _ in work], crew, ledger, hear, starting, over)
    return ledger


def measure_checkpoints(
    request: Request, steps: tuple[int, ...], passes: tuple[str, ...] | None, tell: Tell
) -> None:
    """Measure what is missing at some checkpoints of one series, in this process; of some passes, or all."""
    if not _opened or _opened[0].request != request:
        _opened[:] = [Session(request)]
    _opened[0].passes = passes
    measured = []

    def done(step: int) -> None:
        measured.append(step)
        tell(step=len(measured), steps=len(steps))

    measure_steps(_opened[0], list(steps), 1, done).require_all()


def _request(one: Run | Series, parts: Sequence[str], text: Path | None, budget: float | None) -> Request:
    if isinstance(one, Series):
        one.require_portable()
    given = one.path.absolute() if isinstance(one, Run) else one
    return Request(given, None, tuple(parts), text, budget=budget)


def _home(request: Request) -> Path:
    return request.series.home if isinstance(request.series, Series) else request.series


def _tasks(request: Request, home: Path, engine: str) -> Iterator[Task]:
    """The tasks of one series, in the order of its steps."""
    given = request.series
    opened = given if isinstance(given, Series) else Series.open(given)
    name = opened.name if isinstance(given, Series) else os.path.relpath(given, home)
    steps = [checkpoint.step for checkpoint in opened.checkpoints]
    if engine == "ray":
        for step in steps:
            for one in _passes(request.parts):
                task = f"{name}:{step}:{one or WEIGHTS}"
                yield Task(task, measure_checkpoints, (request, (step,), (one,)))
        return
    for start in range(0, len(steps), CHUNK):
        chunk = tuple(steps[start : start + CHUNK])
        yield Task(f"{name}:{chunk[0]}-{chunk[-1]}", measure_checkpoints, (request, chunk, None))


def _passes(parts: Sequence[str]) -> list[str]:
    """Names of the stimuli that what is asked for runs on; the empty one is of weights alone."""
    asked = [one.part for one in asked_parts(parts) if one.part.kind != "summary"]
    return sorted({name for part in asked for name in (*part.stimuli, "")})


def _finish(request: Request) -> None:
    """What follows from all rows of a series, and one file of its many."""
    try:
        if any(one.part.kind == "summary" for one in asked_parts(request.parts)):
            summarise(Session(request))
    finally:
        with suppress(OntogenyError):  # many files are read as well; damage is its task's reason
            compact_rows(_home(request))
            compact_arrays(_home(request))
            compact_fits(_home(request))
