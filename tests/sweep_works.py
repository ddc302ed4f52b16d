"""Works for the engine's tests, importable by spawned workers: each leaves a mark, then ends in its way."""

import os
import signal
import time
from pathlib import Path

from ontogeny.errors import BadContract


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
