"""All runs of a folder, by ids that are no paths; new ones are found as they appear."""

import contextlib
import os
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import xxhash

from ontogeny.dashboard.attempts import Memory
from ontogeny.dashboard.entry import Entry
from ontogeny.dashboard.kept import Kept
from ontogeny.dashboard.summary import Summaries
from ontogeny.errors import NotARun, OntogenyError
from ontogeny.series.folder import ROWS_HOME
from ontogeny.store.run import MANIFEST

#: Seconds within which the folder is not listed again.
LIST_EVERY = 2.0


class NoSuchRun(OntogenyError):
    """An id that no run of the folder has: answered with status 404."""


class Shelf:
    """A run, a collection, or a series of others' checkpoints that was measured; `cache` is outside of it."""

    def __init__(self, path: Path, cache: Path) -> None:
        self.path, self.memory = path, Memory()
        self._lock = threading.RLock()
        self._entries: dict[Path, Entry] = {}
        self._by_id: dict[str, Entry] = {}
        self._by_identity: dict[str, list[Entry]] = {}
        self._listed = 0.0
        self._root = str(path.resolve())
        self._varying: list[str] = []
        key = xxhash.xxh3_64_hexdigest(self._root.encode("utf-8", "surrogatepass"))
        self.cache = cache / key
        self.kept = Kept(self.cache / "strands")
        self.summaries = Summaries(self.cache / "runs.json")
        if not self.entries() and not path.is_dir():
            raise NotARun(f"{path} holds no runs", received="no such folder")

    @property
    def name(self) -> str:
        return self.path.resolve().name

    def entries(self) -> list[Entry]:
        """Every run there, by name."""
        with self._lock:
            if time.monotonic() - self._listed > LIST_EVERY or not self._listed:
                self._list()
                self._listed = time.monotonic()
            return list(self._entries.values())

    def _list(self) -> None:
        found = _runs_at(self.path)
        known = {path: entry for path, entry in self._entries.items() if not entry.other}
        if found.keys() == known.keys():
            return
        self._entries = {
            path: known.get(path) or Entry(path, kind, self.memory, self.kept, self._place(path))
            for path, kind in sorted(found.items())
        }
        self._varying = varying([entry.config for entry in self._entries.values()])
        self._by_id = {entry.id: entry for entry in self._entries.values()}
        self._by_identity = {}
        for entry in self._entries.values():
            self._by_identity.setdefault(str(entry.identity.get("id", "")), []).append(entry)

    def _place(self, path: Path) -> str:
        return self._root if path == self.path else os.path.join(self._root, path.name)

    def entry(self, key: str) -> Entry:
        """The run of an id; NoSuchRun if there is none."""
        found = self._by_id.get(key)
        if found is None:
            self.entries()
            found = self._by_id.get(key)
        if found is None:
            raise NoSuchRun("no run has this id", received=key[:32], allowed="ids that /api/collection lists")
        return found

    def chosen(self, keys: Sequence[str]) -> list[Entry]:
        return [self.entry(key) for key in keys]

    def parent_of(self, entry: Entry) -> str | None:
        """The id of the run it was branched from, if that is here."""
        own = entry.parent.get("run")
        if not own:
            return None
        rivals = [one for one in self._by_identity.get(str(own), ()) if one is not entry]
        named = [one for one in rivals if one.name == entry.parent.get("name")]
        return (named or rivals)[0].id if rivals else None

    @property
    def varying(self) -> list[str]:
        """Keys of the configuration that are not the same in all runs, the seed left out."""
        return self._varying


def varying(configs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Keys whose values are not the same in all, or that some lack; the seed left out."""
    found: dict[str, None] = {}
    first, missing = configs[0] if configs else {}, object()
    for config in configs[1:]:
        for key, value in config.items():
            if key not in found and first.get(key, missing) != value:
                found[key] = None
        if len(config) < len(first):
            found |= dict.fromkeys(key for key in first if key not in config)
    return [key for key in found if not key.endswith("seed")]


def _runs_at(path: Path) -> dict[Path, Any]:
    """Runs, and series that were measured, at a folder or directly below it."""
    if (path / MANIFEST).is_file():
        return {path: "run"}
    if _measured(path):
        return {path: "series"}
    found: dict[Path, Any] = {}
    with contextlib.suppress(OSError), os.scandir(path) as listed:
        for one in listed:
            if one.name.startswith(".") or not one.is_dir():
                continue
            inner = Path(one.path)
            if (inner / MANIFEST).is_file():
                found[inner] = "run"
            elif _measured(inner):
                found[inner] = "series"
    return found


def _measured(path: Path) -> bool:
    return (path / ROWS_HOME / "rows").is_dir()
