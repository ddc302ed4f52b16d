"""A task, and how it can end; the words that an engine and its workers share."""

import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from ontogeny.errors import OntogenyError

#: What a worker is given to say how far it is: `tell(step=3, loss=2.1)`.
Tell = Callable[..., None]
#: A worker speaks at most this often.
TELL_SECONDS = 0.5


@dataclass(frozen=True)
class Task:
    """A name, and an importable function `work(*arguments, tell=…)` with plain arguments.

    The work must be safe to begin again after it was cut at any point.
    """

    name: str
    work: Callable[..., None]
    arguments: tuple[Any, ...]


class End(StrEnum):
    """How an attempt ended: only `died` and `stopped` are worth another."""

    DONE = "done"
    FAILED = "failed"
    DIED = "died"
    STOPPED = "stopped"


@dataclass(frozen=True)
class Ended:
    """An attempt that is over."""

    task: Task
    end: End
    reason: str = ""


@dataclass(frozen=True)
class Heard:
    """What a worker told of a task it is at."""

    task: Task
    facts: Mapping[str, Any]


class Crew(Protocol):
    """Workers, wherever they are; one task each at a time."""

    name: str
    size: int

    @property
    def busy(self) -> int:
        """How many workers are at a task."""
        ...

    def give(self, task: Task) -> None:
        """Start a task; only while `busy < size`."""
        ...

    def wait(self, seconds: float) -> Sequence[Ended | Heard]:
        """What happened, once something has or the time is over."""
        ...

    def stop(self) -> Sequence[Ended]:
        """Ask every worker to stop at its next step boundary, and wait for them; also tidies up."""
        ...


def attempt(task: Task, tell: Tell) -> tuple[End, str]:
    """Do a task here and say how it ended; an error of its own is final, want of memory is not."""
    try:
        task.work(*task.arguments, tell=_seldom(tell))
    except KeyboardInterrupt as stopped:
        return End.STOPPED, str(stopped) or "interrupted"
    except OntogenyError as error:
        return End.FAILED, f"{type(error).__name__}: {error}"
    except Exception as error:  # a defect or a library's error; the others' work goes on
        if _wants_memory(error):
            return End.DIED, f"out of memory: {error}"
        last = traceback.extract_tb(error.__traceback__)[-1]
        return End.FAILED, f"{type(error).__name__}: {error} ({Path(last.filename).name}, line {last.lineno})"
    return End.DONE, ""


def _wants_memory(error: Exception) -> bool:
    """torch has a class of its own for devices, and none for the CPU."""
    return (
        isinstance(error, MemoryError)
        or type(error).__name__ == "OutOfMemoryError"
        or "can't allocate memory" in str(error)
    )


def _seldom(tell: Tell) -> Tell:
    """`tell`, but only so often."""
    last = [0.0]

    def sometimes(**facts: Any) -> None:
        if time.monotonic() - last[0] >= TELL_SECONDS:
            last[0] = time.monotonic()
            tell(**facts)

    return sometimes
