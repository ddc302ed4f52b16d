"""One run, or a series of others' checkpoints: only read, and looked at again as it grows."""

import contextlib
import hashlib
import os
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ontogeny.dashboard.attempts import Attempt, Memory, stamp_of
from ontogeny.dashboard.configuration import configuration, group_of, interventions_of, seed_of
from ontogeny.dashboard.kept import Kept
from ontogeny.dashboard.pyramid import Pyramid
from ontogeny.dashboard.strands import Strand, strands
from ontogeny.dashboard.tables import Tables
from ontogeny.errors import OntogenyError
from ontogeny.series.series import home_of
from ontogeny.store.documents import read_json
from ontogeny.store.run import MANIFEST
from ontogeny.views.buckets import Spacing

#: Seconds within which a run is not looked at again.
LOOK_EVERY = 0.2
#: Points of the strands that one run keeps ready; a few more metrics of a million steps than a screen shows.
MOST_POINTS = 32 << 20
Kind = Literal["run", "series"]


class Ready(NamedTuple):
    """The pyramids of one metric as they were made in an epoch of the run, from journals of these stamps."""

    epoch: int = -1
    stamps: list[tuple[int, ...]] | None = None
    pyramids: Sequence[Pyramid] = ()
    points: int = 0

    @classmethod
    def holding(cls, epoch: int, stamps: list[tuple[int, ...]], pyramids: Sequence[Pyramid]) -> "Ready":
        return cls(epoch, stamps, pyramids, sum(1000 + len(one.strand) for one in pyramids))


class Entry:
    """What is known of a run; every method that reads holds `lock`. Nothing is ever written into the run.

    `place` says where it is, whatever the present folder.
    """

    def __init__(self, path: Path, kind: Kind, memory: Memory, kept: Kept, place: str) -> None:
        self.path, self.kind, self.memory, self.kept = path, kind, memory, kept
        self.home = home_of(path) if kind == "series" else path
        self.lock = threading.RLock()
        self.tables = Tables(self.home)
        self.identity: dict[str, Any] = {}
        self.damage = ""
        self.attempts: list[Attempt] = []
        self._epoch = 0
        self._looked = 0.0
        self._manifest: tuple[int, ...] | None = None
        self._pyramids: dict[tuple[str, str, Spacing], Ready] = {}
        self._held = 0  #: points of all of them
        self.read_identity()
        self.made = str(self.identity.get("id", ""))
        told = f"{self.made}\0{place}".encode("utf-8", "surrogatepass")
        self.id = hashlib.blake2s(told, digest_size=8).hexdigest()

    @property
    def name(self) -> str:
        return self.path.name or str(self.path)

    def read_identity(self) -> bool:
        """Read `run.json` again if it changed; what is damaged is said in `damage`."""
        if self.kind == "series":
            return False
        with contextlib.suppress(OSError):
            state = (self.path / MANIFEST).stat()
            stamp = state.st_ino, state.st_size, state.st_mtime_ns
            if stamp == self._manifest:
                return False
            self._manifest = stamp
        try:
            self.identity, self.damage = read_json(self.path / MANIFEST, seal=True), ""
        except (OntogenyError, OSError) as error:
            self.damage = str(error).splitlines()[0]
        self.config = configuration(self.identity)
        self.group, self.seed = group_of(self.identity, self.config), seed_of(self.config)
        return True

    @property
    def other(self) -> bool:
        """Whether another run has been made in this one's place."""
        return str(self.identity.get("id", "")) != self.made

    config: Mapping[str, Any] = {}
    group: str = ""
    seed: int | None = None

    @property
    def parent(self) -> Mapping[str, Any]:
        found = self.identity.get("parent")
        return found if isinstance(found, Mapping) else {}

    @property
    def interventions(self) -> list[str]:
        return interventions_of(self.identity)

    def journals(self) -> list[Path]:
        """One an attempt, in order, whichever form it has."""
        folder = self.path / "journal"
        with contextlib.suppress(OSError):
            names = (os.path.splitext(name) for name in os.listdir(folder))
            found = {stem for stem, form in names if form in (".journal", ".parquet") and stem.isdecimal()}
            return [folder / f"{stem}.journal" for stem in sorted(found)]
        return []

    def look(self, at_least: float = LOOK_EVERY) -> None:
        """Take in what was recorded since the last look, which was at least so many seconds ago."""
        with self.lock:
            if self._looked and time.monotonic() - self._looked < at_least:
                return
            journals = self.journals() if self.kind == "run" else []
            if [attempt.path for attempt in self.attempts] != journals:
                known = {attempt.path: attempt for attempt in self.attempts}
                self.attempts = [known.get(path) or Attempt(path, self.memory) for path in journals]
                self._epoch += 1
            for attempt in self.attempts:
                before = attempt.replaced
                attempt.look()
                self._epoch += attempt.replaced != before
            self._looked = time.monotonic()

    @property
    def metrics(self) -> list[str]:
        """Everything recorded, in order of first appearance."""
        self.look()
        return list(dict.fromkeys(name for attempt in self.attempts for name in attempt.metrics))

    def pyramids(self, metric: str, axis: str, spacing: Spacing) -> Sequence[Pyramid]:
        """The strands of a metric, ready for any zoom. UnknownName for an axis the run does not have."""
        with self.lock:
            asked = metric, axis, spacing
            stamps = [stamp_of(path) for path in self.journals()] if self.kind == "run" else []
            known = self._pyramids.pop(asked, Ready())
            self._held -= known.points
            if known.stamps != stamps:
                kept = self.kept.load(self.id, asked, stamps) if not known.pyramids else None
                known = Ready.holding(-1, stamps, kept) if kept is not None else self._made(asked, known)
            self._pyramids[asked] = known
            self._held += known.points
            while len(self._pyramids) > 1 and self._held > MOST_POINTS:
                self._held -= self._pyramids.pop(next(iter(self._pyramids))).points
            return known.pyramids

    def _made(self, asked: tuple[str, str, Spacing], before: "Ready") -> "Ready":
        self.look()
        found = strands(self.attempts, *asked[:2])
        same = before.epoch == self._epoch and len(found) == len(before.pyramids)
        known = before.pyramids if same else [None] * len(found)
        made = [
            one.grown(now) if one is not None and _continues(one, now) else Pyramid(now, asked[2])
            for now, one in zip(found, known, strict=True)
        ]
        stamps = [attempt.stamp for attempt in self.attempts]
        self.kept.save(self.id, asked, stamps, made)
        return Ready.holding(self._epoch, stamps, made)


def _continues(before: Pyramid, now: Strand) -> bool:
    """Whether a strand has the points of the earlier one first; the ends of the known stretch must agree."""
    if not len(before.strand) or len(now) < len(before.strand):
        return False
    known, last = before.strand, len(before.strand) - 1
    same = known.x[last] == now.x[last] and known.x[0] == now.x[0]
    return bool(same and known.y[last : last + 1].tobytes() == now.y[last : last + 1].tobytes())
