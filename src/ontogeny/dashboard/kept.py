"""Long strands and their buckets in the cache, memory-mapped: a second server need not read the journals.

Keyed by the stamps of the journals they came from, and checked by a hash when they are opened; whatever does
not fit is made again. Only runs that rest are kept: a live one changes every step.
"""

import json
import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from ontogeny.dashboard.pyramid import LONG, Pyramid
from ontogeny.dashboard.strands import Strand
from ontogeny.errors import OntogenyError
from ontogeny.store.documents import read_json, sealed_bytes
from ontogeny.views.buckets import Buckets, Spacing

#: Raised with every change of what is kept.
VERSION = 1
#: Seconds since the last record before a run counts as resting.
RESTING = 30.0

COLUMNS = tuple(Buckets.__dataclass_fields__)
Stamps = Sequence[tuple[int, ...]]


class Kept:
    """Strands in a folder of the cache. They are written beside the requests, or not where that fails."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._writing = ThreadPoolExecutor(1, thread_name_prefix="cache")

    def load(self, run: str, asked: tuple[str, str, Spacing], stamps: Stamps) -> list[Pyramid] | None:
        """The pyramids of a metric, if they are kept and whole."""
        about = self._about(run, asked, stamps)
        try:
            return [self._opened(one, asked[2]) for one in read_json(about, seal=True)["strands"]]
        except (OntogenyError, OSError, ValueError):
            return None

    def save(
        self, run: str, asked: tuple[str, str, Spacing], stamps: Stamps, found: Sequence[Pyramid]
    ) -> None:
        """Keep them, if any is long and the run rests."""
        newest = max((stamp[2] for stamp in stamps if stamp), default=0) / 1e9
        if max((len(one.strand) for one in found), default=0) > LONG and time.time() - newest > RESTING:
            self._writing.submit(self._write, self._about(run, asked, stamps), list(found))

    def close(self) -> None:
        """Finish what is being written, and nothing more."""
        self._writing.shutdown(cancel_futures=True)

    def _about(self, run: str, asked: tuple[str, str, Spacing], stamps: Stamps) -> Path:
        text = json.dumps([VERSION, run, asked, list(stamps)]).encode("utf-8", "surrogatepass")
        return self.home / f"{xxhash.xxh3_128_hexdigest(text)}.json"

    def _opened(self, said: dict[str, Any], spacing: Spacing) -> Pyramid:
        segments = tuple((int(a), float(b), float(c)) for a, b, c in said["segments"])
        strand = Strand(
            said["attempt"], said["superseded"], segments, self._column(said["x"]), self._column(said["y"])
        )
        base = None
        if said["base"] is not None:
            held = {name: self._column(one) for name, one in said["base"].items()}
            base = said["level"], Buckets(**held)
        return Pyramid(strand, spacing, base)

    def _column(self, said: list[Any]) -> NDArray[Any]:
        """A column by its hash, kind and length."""
        name, kind, length = said
        if not length:
            return np.empty(0, kind)
        path = self.home / name
        column = np.memmap(path, kind, "r", shape=(length,))
        if _hash(column) != name:
            raise ValueError(f"{path} is not what its name says")
        os.utime(path)  # used now: others are pruned first
        return column

    def _write(self, about: Path, found: Sequence[Pyramid]) -> None:
        try:
            self.home.mkdir(parents=True, exist_ok=True)
            _put(about, sealed_bytes({"strands": [self._said(one) for one in found]}))
        except OSError:  # no room: the cache is a convenience
            return

    def _said(self, one: Pyramid) -> dict[str, Any]:
        strand, base = one.strand, one.base
        return {
            "attempt": strand.attempt,
            "superseded": strand.superseded,
            "segments": strand.segments,
            "x": self._keep(strand.x),
            "y": self._keep(strand.y),
            "level": one.level,
            "base": None if base is None else {name: self._keep(getattr(base, name)) for name in COLUMNS},
        }

    def _keep(self, column: NDArray[Any]) -> list[Any]:
        """Write a column once, under its own hash: many metrics share their steps."""
        name = _hash(column)
        if len(column) and not (self.home / name).exists():
            _put(self.home / name, column.tobytes())
        return [name, column.dtype.str, len(column)]


def _put(path: Path, data: bytes) -> None:
    """Write beside and move into place; a hash tells what a crash cut short."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_bytes(data)
    beside.replace(path)


def _hash(column: NDArray[Any]) -> str:
    return xxhash.xxh3_128_hexdigest(np.ascontiguousarray(column).data)
