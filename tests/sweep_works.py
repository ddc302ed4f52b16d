"""Works for the engine's tests, importable by spawned workers: each leaves a mark, then ends in its way."""

import os
import signal
import time
from pathlib import Path

from ontogeny.errors import BadContract
from ontogeny.sweep.measuring import measure_checkpoints


def marks(folder: str | Path, name: str) -> list[int]:
    """The process of every attempt at a task, in order."""
    return [int(path.name.rpartition("-")[2]) for path in sorted(Path(folder).glob(f"{name}@*"))]


def work(folder: str, name: str, kind: str, tell) -> None:
    """One file an attempt; then what `kind` says."""
    (Path(folder) / f"{name}@{time.monotonic_ns()}-{os.getpid()}").touch()
    first = len(marks(folder, name)) == 1
    if kind == "killed" or (kind == "killed once" and first):
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == "wrong":
        raise BadContract("this cannot be done", remedy="do something else")
    if kind == "defect":
        raise ZeroDivisionError("by zero")
    if kind == "hungry once" and first:
        raise MemoryError("no more")
    if kind == "slow":
        time.sleep(60)


def measure_or_die(request, steps: tuple[int, ...], passes, tell) -> None:
    """Measure; but the first attempt at every 20th task dies after a checkpoint, all of run 20 do."""
    run = request.series
    number = 2 * int(run.name.rpartition("-")[2]) + (steps[0] > 0)
    mark = run.parent / f"killed-{number}"

    def dying(**facts) -> None:
        if run.name == "run-20" or (number % 20 == 3 and not mark.exists()):
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)

    measure_checkpoints(request, steps, passes, dying)


def measure_or_die_once(request, steps: tuple[int, ...], passes, tell) -> None:
    """Measure; but the first attempt at every piece of step 8 dies, half of them before and half after."""
    mark = request.series.parent / f"killed-{steps[0]}-{'-'.join(passes)}"
    dies = steps[0] == 8 and not mark.exists()
    if dies:
        mark.touch()
    if not dies or passes != ("",):
        measure_checkpoints(request, steps, passes, tell)
    if dies:
        os.kill(os.getpid(), signal.SIGKILL)
