"""What changed since when: runs are looked over while somebody listens, by the times of their files.

A cursor is a moment of this server. Listening again with one tells what changed since; one of another server
tells the listener to begin anew.
"""

import secrets
import threading
import time
from typing import Any

from ontogeny.dashboard.attempts import stamp_of
from ontogeny.dashboard.entry import Entry
from ontogeny.dashboard.shelf import Shelf
from ontogeny.dashboard.summary import Summaries
from ontogeny.dashboard.tables import TRANSITIONS

#: Seconds between looks; longer where one takes long, so that looking never takes more than a tenth.
EVERY, SHARE = 1.0, 10
KINDS = ("metrics", "rows", "transitions", "status", "identity")


class Watch:
    """Looks a shelf over while anybody listens; `version` rises with every change."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf, self.boot, self.version = shelf, secrets.token_hex(4), 0
        self.stopped = threading.Event()
        self._lock = threading.Lock()
        self._listeners = 0
        self._thread: threading.Thread | None = None
        self._stamps: dict[str, dict[str, Any]] = {}
        self._changed: dict[str, dict[str, int]] = {}
        self._gone: dict[str, int] = {}
        self._began = False

    @property
    def cursor(self) -> str:
        """This moment."""
        if not self._began:
            self.look()
        return f"{self.boot}-{self.version}"

    def since(self, cursor: str) -> int | None:
        """The version a cursor stands for; None if it is not one of this server."""
        boot, dash, version = cursor.partition("-")
        known = boot == self.boot and dash and version.isdecimal() and int(version) <= self.version
        return int(version) if known else None

    def listen(self) -> None:
        """Somebody listens now: look until `leave` was called as often."""
        with self._lock:
            self._listeners += 1
            if self._thread is None:
                self._thread = threading.Thread(target=self._keep_looking, name="watch", daemon=True)
                self._thread.start()

    def leave(self) -> None:
        with self._lock:
            self._listeners -= 1

    def _keep_looking(self) -> None:
        wait = 0.0
        while not self.stopped.wait(wait):
            with self._lock:
                if not self._listeners:
                    self._thread = None
                    return
            started = time.monotonic()
            self.look()
            self.shelf.summaries.save()
            wait = max(EVERY, SHARE * (time.monotonic() - started))

    def look(self) -> None:
        """Compare every run's files with how they were."""
        entries = self.shelf.entries()
        with self._lock:
            version = self.version + 1
            present = {entry.id for entry in entries}
            for entry in entries:
                now = _stamps(entry, self.shelf.summaries)
                before = self._stamps.get(entry.id)
                self._stamps[entry.id] = now
                if before is None:
                    self._gone.pop(entry.id, None)
                    before = dict.fromkeys(KINDS) if self._began else now
                for kind in KINDS:
                    if _differs(kind, before[kind], now[kind]):
                        self._changed.setdefault(entry.id, {})[kind] = version
                        self.version = version
            for key in [key for key in self._stamps if key not in present]:
                del self._stamps[key]
                self._changed.pop(key, None)
                self._gone[key] = self.version = version
            self._began = True

    def changes(self, since: int) -> dict[str, Any]:
        """The runs that changed after a version, and what of each."""
        with self._lock:
            version = self.version
            changed = {
                key: {kind for kind, at in kinds.items() if at > since}
                for key, kinds in self._changed.items()
                if any(at > since for at in kinds.values())
            }
            gone = [key for key, at in self._gone.items() if at > since]
        entries = {entry.id: entry for entry in self.shelf.entries()}
        runs = [self._line(entries[key], kinds) for key, kinds in changed.items() if key in entries]
        return {"cursor": f"{self.boot}-{version}", "runs": runs, "gone": gone}

    def _line(self, entry: Entry, kinds: set[str]) -> dict[str, Any]:
        said = self.shelf.summaries.of(entry)
        return {
            "id": entry.id,
            "name": entry.name,
            **{name: said[name] for name in ("status", "steps", "tokens", "seconds", "claims", "last")},
            "metrics_changed": "metrics" in kinds,
            "rows_changed": "rows" in kinds,
            "transitions_changed": "transitions" in kinds,
        }


def _differs(kind: str, before: Any, now: Any) -> bool:
    """A status that was not known before is no change of it."""
    return now != before and not (kind == "status" and None in (before, now))


def _stamps(entry: Entry, summaries: Summaries) -> dict[str, Any]:
    entry.read_identity()
    return {
        "metrics": [stamp_of(path) for path in entry.journals()],
        "rows": entry.tables.stamp("rows"),
        "transitions": entry.tables.stamp(TRANSITIONS),
        "status": summaries.status(entry),
        "identity": (entry.identity.get("grade"), entry.damage),
    }
