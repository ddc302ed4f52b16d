"""What became of every task of a sweep, in one JSON file that people and programs can read at any time."""

import time
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from ontogeny.errors import Damaged
from ontogeny.store.documents import read_json, write_json

FORMAT = 1
#: The file is written at most this often, and never takes up more than this part of the time.
WRITE_SECONDS, WRITE_SHARE = 1.0, 0.02


class State(StrEnum):
    """Where a task stands."""

    WAITING = "waiting"
    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"
    STOPPED = "stopped"


@dataclass
class Entry:
    """A task's state, how many attempts were made in all sweeps, and why those that ended badly did."""

    state: State = State.WAITING
    attempts: int = 0
    reasons: list[str] = field(default_factory=list)


class Ledger:
    """Entries by name. What an earlier sweep wrote of the same tasks is gone on with, of others kept.

    The file is an account: what is finished is told by the runs themselves, never by it.
    """

    def __init__(self, path: Path, names: list[str], **facts: Any) -> None:
        self.path, self.facts = path, facts
        before = self._before()
        self.entries = {name: before.pop(name, Entry()) for name in names}
        self._others = before
        for entry in self.entries.values():
            entry.state = State.WAITING
        self._next_write = 0.0
        self.write(now=True)

    def __getitem__(self, name: str) -> Entry:
        return self.entries[name]

    def names(self, state: State) -> list[str]:
        """Tasks in a state, in their order."""
        return [name for name, entry in self.entries.items() if entry.state is state]

    def write(self, now: bool = False) -> None:
        """Put it on the disk; seldom, unless `now`."""
        started = time.monotonic()
        if not now and started < self._next_write:
            return
        tasks = {name: asdict(entry) for name, entry in {**self._others, **self.entries}.items()}
        write_json(self.path, {"format": FORMAT, **self.facts, "tasks": tasks})
        ended = time.monotonic()
        self._next_write = ended + max(WRITE_SECONDS, (ended - started) / WRITE_SHARE)

    def _before(self) -> dict[str, Entry]:
        if not self.path.exists():
            return {}
        try:
            tasks = read_json(self.path)["tasks"]
            return {
                name: Entry(State(entry["state"]), int(entry["attempts"]), list(entry["reasons"]))
                for name, entry in tasks.items()
            }
        except (Damaged, KeyError, TypeError, ValueError, AttributeError):
            return {}  # an account of the past; nothing depends on it
