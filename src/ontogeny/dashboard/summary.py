"""What a table of runs says of each: read once, kept by the stamps of the files it came from."""

import contextlib
import os
import threading
import time
from pathlib import Path
from typing import Any

import pandas as pd
import xxhash

from ontogeny.dashboard.attempts import stamp_of
from ontogeny.dashboard.entry import Entry
from ontogeny.dashboard.heartbeat import status_of
from ontogeny.errors import OntogenyError
from ontogeny.series.steps import TABLE as STEPS
from ontogeny.store.documents import read_json, write_json
from ontogeny.store.rows import read_table
from ontogeny.vocabulary import Verdict

#: Metrics of the whole model that a table shows; those of single matrices are asked for by name.
MOST_LAST = 60
#: Raised with every change of what a summary holds.
VERSION = 1
SAVE_EVERY = 5.0
CLAIMS = "transitions.parquet"

Summary = dict[str, Any]


class Summaries:
    """Summaries of the runs of one folder. They outlive the server in one file of the cache."""

    def __init__(self, file: Path) -> None:
        self._file, self._lock = file, threading.Lock()
        self._known: dict[str, tuple[str, Summary]] = {}
        self._dirty, self._saved = False, time.monotonic()
        with contextlib.suppress(OntogenyError, OSError, ValueError, KeyError, TypeError):
            document = read_json(file)
            if document["version"] == VERSION:
                self._known = {key: (stamp, held) for key, (stamp, held) in document["runs"].items()}

    def of(self, entry: Entry) -> Summary:
        """Steps, tokens, seconds, last values, claims, and the status of this moment."""
        stamp = _stamp(entry)
        known, held = self._known.get(entry.id, ("", {}))
        if known != stamp:
            held = summarised(entry)
            with self._lock:
                self._known[entry.id] = stamp, held
                self._dirty = True
        return {**held, "status": _status(entry, held)}

    def status(self, entry: Entry) -> str | None:
        """Its status by what is known of it, without reading; None where nothing is."""
        held = self._known.get(entry.id)
        return None if held is None else _status(entry, held[1])

    def save(self, at_least: float = SAVE_EVERY) -> None:
        """Keep them for the next server; nothing happens where the cache cannot be written."""
        with self._lock:
            if not self._dirty or time.monotonic() - self._saved < at_least:
                return
            document = {"version": VERSION, "runs": {key: list(one) for key, one in self._known.items()}}
            self._dirty, self._saved = False, time.monotonic()
        with contextlib.suppress(OntogenyError, OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            write_json(self._file, document)


def _stamp(entry: Entry) -> str:
    seen = [stamp_of(path) for path in entry.journals()]
    for name in (CLAIMS, STEPS):
        with contextlib.suppress(OSError):
            state = os.stat(os.path.join(entry.home, name))
            seen.append((state.st_ino, state.st_size, state.st_mtime_ns))
    return xxhash.xxh3_64_hexdigest(repr(seen).encode())


def _status(entry: Entry, held: Summary) -> str:
    if entry.kind == "series":
        return "finished"
    journals = entry.journals()
    stamp = stamp_of(journals[-1]) if journals else ()
    return status_of(entry.path, held["outcome"], stamp[2] / 1e9 if stamp else None, held["longest"])


def summarised(entry: Entry) -> Summary:
    """Read a run's telemetry as far as a line of a table needs it."""
    with entry.lock:
        entry.look(0.0)
        attempts = entry.attempts
        last: dict[str, float] = {}
        for attempt in attempts:
            last |= attempt.last([name for name in attempt.metrics if "/" not in name][:MOST_LAST])
        newest = attempts[-1] if attempts else None
        seconds = newest.seconds[-100:] if newest is not None else ()
        steps = [int(attempt.steps.max()) for attempt in attempts if len(attempt.steps)]
        if entry.kind == "series":
            steps = entry.tables.steps().get("step", pd.Series(dtype="int64")).tolist()
        return {
            "outcome": newest.outcome if newest is not None else "",
            "longest": float((seconds[1:] - seconds[:-1]).max()) if len(seconds) > 1 else 0.0,
            "steps": steps[-1] if steps else None,
            "tokens": last.get("tokens"),
            "seconds": sum(float(one.seconds[-1]) for one in attempts if len(one.seconds)),
            "last": {name: value for name, value in last.items() if name not in _BOOKKEEPING},
            "metrics": len(entry.metrics),
            "claims": claims_of(entry.home),
        }


_BOOKKEEPING = ("model_digest", "draw", "loss_weight")


def claims_of(home: Path) -> int:
    """How many transitions are claimed there."""
    try:
        verdicts = read_table(home / CLAIMS, ["verdict"])["verdict"].to_pylist()
    except (OntogenyError, OSError, KeyError):
        return 0
    return verdicts.count(Verdict.TRANSITION)
