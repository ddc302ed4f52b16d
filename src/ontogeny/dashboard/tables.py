"""What was measured on a run and what was found in it: read again when the files change, never held open."""

import contextlib
import os
import stat
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from ontogeny.errors import OntogenyError
from ontogeny.series.steps import TABLE as STEPS
from ontogeny.store.arrays import ArrayPacks
from ontogeny.store.files import Damage
from ontogeny.store.rows import read_rows, read_table

TRANSITIONS = "transitions.parquet"
#: Seconds within which files are not looked at again.
LOOK_EVERY = 1.0
#: A measuring worker may make one file of many while they are read.
TRIES = 5


class Tables:
    """Rows, transitions, steps and arrays of one home. Damaged files are left out and listed in `damage`."""

    def __init__(self, home: Path) -> None:
        self.home, self.lock = home, threading.RLock()
        self.damage: list[Damage] = []
        self._held: dict[str, tuple[Any, Any]] = {}
        self._derived: dict[str, tuple[Any, Any]] = {}
        self._stamps: dict[str, tuple[float, Any]] = {}

    def stamp(self, name: str) -> Any:
        """What changes whenever files of `rows`, `arrays` or one table do."""
        looked, stamp = self._stamps.get(name, (0.0, None))
        if not looked or time.monotonic() - looked > LOOK_EVERY:
            stamp = _stamp(os.path.join(self.home, name))
            self._stamps[name] = time.monotonic(), stamp
        return stamp

    def rows(self) -> pd.DataFrame:
        return self._read("rows", self._read_rows)

    def _read_rows(self) -> pd.DataFrame:
        self.damage = []
        return read_rows(self.home, damage=self.damage)

    def derived(self, name: str, make: Callable[[pd.DataFrame], Any]) -> Any:
        """Something made from the rows, made again when they change."""
        with self.lock:
            rows = self.rows()
            known, held = self._derived.get(name, (None, None))
            if known is not rows:
                held = make(rows)
                self._derived[name] = rows, held
            return held

    def transitions(self) -> pd.DataFrame:
        return self._read(TRANSITIONS, lambda: self._table(TRANSITIONS))

    def steps(self) -> pd.DataFrame:
        """Step, tokens and label of the checkpoints that were measured."""
        return self._read(STEPS, lambda: self._table(STEPS))

    def arrays(self) -> ArrayPacks:
        return self._read("arrays", lambda: ArrayPacks(self.home))

    def _table(self, name: str) -> pd.DataFrame:
        try:
            return read_table(self.home / name).to_pandas()
        except FileNotFoundError:
            return pd.DataFrame()
        except OntogenyError as error:
            self.damage = [*self.damage, Damage(name, 0, 0, str(error.received))]
            return pd.DataFrame()

    def _read(self, name: str, read: Any) -> Any:
        with self.lock:
            stamp = self.stamp(name)
            known, held = self._held.get(name, (None, None))
            if held is not None and known == stamp:
                return held
            for tries in range(TRIES):
                try:
                    held = read()
                    break
                except FileNotFoundError:
                    if tries + 1 == TRIES:
                        raise
                    time.sleep(0.05)
            self._held[name] = stamp, held
            return held


def _stamp(path: str) -> Any:
    with contextlib.suppress(OSError):
        state = os.stat(path)
        if not stat.S_ISDIR(state.st_mode):
            return state.st_ino, state.st_size, state.st_mtime_ns
        with os.scandir(path) as listed:
            found = [(one.name, one.stat()) for one in listed if not one.name.startswith(".")]
        return sorted((name, state.st_size, state.st_mtime_ns) for name, state in found)
    return ()
