"""The journal of one attempt: every record is on its way to the disk before `append` returns.

Appended records survive the death of the process at once, and of the machine after about a second. The
format of a frame is told in `frames`; a closed journal is made smaller by `compaction`.
"""

import contextlib
import os
import struct
import threading
import time
import zlib
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, Self

from ontogeny.errors import BadContract, NotARun, OntogenyError, RunExists
from ontogeny.store import files
from ontogeny.store.compaction import read_compacted
from ontogeny.store.decoding import FramedReader
from ontogeny.store.documents import json_bytes
from ontogeny.store.files import Damage, fsync_folder, named_errors
from ontogeny.store.frames import FORMAT, PREFIX, SEED, Kind, frame
from ontogeny.store.packing import Coder, Packing, require_short
from ontogeny.store.telemetry import Column, Journal

#: Definitions are written again after this many bytes, and never make up more than 1/64 of a journal.
REPEAT_EVERY, REPEAT_SHARE = 1 << 20, 64
#: How many sets of names, and how many strings, are remembered; beyond it they are written afresh.
REMEMBERED = 4096
SYNC_SECONDS = 1.0

_PREFIX, _SEED = PREFIX[Kind.VALUES], SEED[Kind.VALUES]


class JournalWriter:
    """Appends telemetry to a new file; one writer a file, any number of threads.

    Processes forked from the writer's write nothing: there every method returns at once. A failed write
    leaves the file as it was before (or, if even that fails, a torn record that readers skip), raises
    DiskFull, NotWritable or OntogenyError, and the next record may be tried when the cause is gone. Errors
    of the background fsync are raised by the next call.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        if _forms(self.path)[1].exists():
            raise RunExists(f"{self.path} was closed and compacted", remedy="open the next attempt's journal")
        self._pid, self._lock, self._origin = os.getpid(), threading.Lock(), time.monotonic()
        self._written = (
            0,
            0,
        )  # bytes and frames in the file: one object, so that an interrupt finds both or neither
        self._unsure = 0  # bytes of a frame that is being written, or was when an interrupt came
        self._defined = self._numbers = 0
        self._repeat_at = REPEAT_EVERY
        self._coder = Coder()
        self._packings: dict[tuple[Column, ...], Packing] = {}
        self._shapes: dict[tuple[Any, ...], Packing] = {}  # the same, found without looking at the values
        self._strings: dict[str, int] = {}
        self._definitions: dict[tuple[Kind, Any], bytes] = {}
        self._failure: OSError | None = None
        self._dirty, self._closing, self._closed = threading.Event(), threading.Event(), False
        with named_errors(self.path):
            try:
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND
                self._descriptor = os.open(self.path, flags, 0o666)
            except FileExistsError as error:
                raise RunExists(f"{self.path} exists", remedy="open the next attempt's journal") from error
            try:
                self._define(
                    Kind.HEADER, None, json_bytes({"format": FORMAT, "started": time.time()}, indent=None)
                )
                fsync_folder(self.path.parent)
            except BaseException:
                os.close(self._descriptor)
                self.path.unlink(missing_ok=True)
                raise
        self._syncing = threading.Thread(target=self._keep_synced, name="ontogeny fsync", daemon=True)
        self._syncing.start()

    def append(
        self, step: int, values: Mapping[str, float | int | bool | str], *, narrow: Collection[str] = ()
    ) -> None:
        """Write one record.

        Any step of 64 bits is taken, in any order, any number of times. Floats are kept bit for bit in 8
        bytes, those named in `narrow` (and numpy's float32) in 4 unless they do not fit; integers need
        -2**63 ... 2**64-1. Raises BadContract for a value of another kind or size, and the errors of the
        class.
        """
        if os.getpid() != self._pid:
            return
        with self._lock:
            self._check()
            if self._written[0] >= self._repeat_at:
                self._repeat()
            packing = self._shapes.get((*values, *map(type, values.values()), *narrow))
            try:
                if packing is None:
                    raise OverflowError
                rest = self._packed(packing, step, values.values())
            except (struct.error, OverflowError):
                rest = self._packed_afresh(step, values, narrow)
            self._write(_PREFIX + zlib.crc32(rest, _SEED).to_bytes(4, "little") + rest)

    def note(self, kind: str, **data: Any) -> None:
        """Write an event. `data` is what JSON holds; non-finite numbers are kept."""
        if os.getpid() != self._pid:
            return
        text = json_bytes({"kind": kind, "data": data}, indent=None)
        with self._lock:
            self._check()
            seconds = struct.pack("<d", time.monotonic() - self._origin)
            self._write(self._frame(Kind.NOTE, seconds + text))

    def close(self) -> None:
        """Make everything durable and let go of the file; a second call does nothing."""
        if os.getpid() != self._pid:
            return
        with self._lock:
            if self._closed:
                return
            self._closed = True
        self._closing.set()
        self._dirty.set()
        self._syncing.join()
        with named_errors(self.path):
            try:
                self._settle()
                self._repeat()
                files.raw_fsync(self._descriptor)
                if self._failure is not None:
                    raise self._failure
            finally:
                os.close(self._descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check(self) -> None:
        if self._closed:
            raise OntogenyError(f"{self.path} is closed", remedy="open the next attempt's journal")
        if self._failure is not None:
            failure, self._failure = self._failure, None
            with named_errors(self.path):
                raise failure
        if self._unsure:
            self._settle()

    def _settle(self) -> None:
        """After an interrupt inside a write: what is in the file counts if it is whole, else it goes."""
        if not self._unsure:
            return
        size, frames = self._written
        with named_errors(self.path):
            more = os.fstat(self._descriptor).st_size - size
            if more == self._unsure:
                self._written = size + more, frames + 1
            elif more:
                self._take_back(size, frames)
        self._unsure = 0

    def _take_back(self, size: int, frames: int) -> None:
        """Cut off what was written of a frame; where that fails, too, it stays, and readers skip it."""
        try:
            os.ftruncate(self._descriptor, size)
        except OSError:
            with contextlib.suppress(OSError):
                self._written = os.fstat(self._descriptor).st_size, frames
        self._unsure = 0

    def _packed(self, packing: Packing, step: int, values: Iterable[Any]) -> bytes:
        if packing.texts:
            values = list(values)
            for index in packing.texts:
                values[index] = self._string(values[index])
        seconds = time.monotonic() - self._origin
        return packing.structure.pack(
            packing.length, self._written[1], packing.number, step, seconds, *values
        )

    def _packed_afresh(self, step: int, values: Mapping[str, Any], narrow: Collection[str]) -> bytes:
        """The slow way: look at every value, and widen what has outgrown its kind."""
        columns = self._coder.columns(values, narrow)
        packing = self._packings.get(columns) or self._new_packing(columns)
        self._shapes[(*values, *map(type, values.values()), *narrow)] = packing
        try:
            return self._packed(packing, step, values.values())
        except (struct.error, OverflowError) as error:
            raise BadContract(
                f"step {step!r} cannot be recorded",
                received=type(step).__name__,
                allowed="an integer of 64 bits",
            ) from error

    def _new_packing(self, columns: tuple[Column, ...]) -> Packing:
        if len(self._packings) >= REMEMBERED:
            self._packings.clear()
            self._shapes.clear()
            self._forget(Kind.SCHEMA)
        self._numbers += 1
        packing = Packing.of(self._numbers, columns)
        text = json_bytes(columns, indent=None)
        self._define(Kind.SCHEMA, columns, struct.pack("<I", packing.number) + text)
        self._packings[columns] = packing
        return packing

    def _string(self, text: str) -> int:
        number = self._strings.get(text)
        if number is None:
            if len(self._strings) >= REMEMBERED:
                self._strings.clear()
                self._forget(Kind.STRING)
            self._numbers += 1
            number = self._numbers
            payload = struct.pack("<I", number) + text.encode("utf-8", "surrogatepass")
            self._define(Kind.STRING, text, payload)
            self._strings[text] = number
        return number

    def _define(self, kind: Kind, key: Any, payload: bytes) -> None:
        """Write a definition twice, for without it no record that needs it can be read."""
        for _ in range(2):
            self._write(self._frame(kind, payload))
        self._definitions[kind, key] = payload
        self._defined += len(payload)

    def _forget(self, kind: Kind) -> None:
        self._definitions = {key: payload for key, payload in self._definitions.items() if key[0] != kind}
        self._defined = sum(map(len, self._definitions.values()))

    def _repeat(self) -> None:
        self._repeat_at = self._written[0] + max(REPEAT_EVERY, REPEAT_SHARE * self._defined)
        for (kind, _), payload in self._definitions.items():
            self._write(self._frame(kind, payload))

    def _frame(self, kind: Kind, payload: bytes) -> bytes:
        require_short(len(payload))
        return frame(kind, self._written[1], payload)

    def _write(self, data: bytes) -> None:
        size, frames = self._written
        self._unsure = len(data)
        done = 0
        try:
            while done < len(data):
                done += files.raw_write(self._descriptor, data[done:] if done else data)
        except OSError:
            with named_errors(self.path, lambda: len(data)):
                self._take_back(size, frames)
                raise
        self._written = size + done, frames + 1
        self._unsure = 0
        if not self._dirty.is_set():
            self._dirty.set()

    def _keep_synced(self) -> None:
        """Make what was appended durable, at most once a second, beside the loop and never in its way."""
        while self._dirty.wait() and not self._closing.is_set():
            self._dirty.clear()
            try:
                files.raw_fsync(self._descriptor)
            except OSError as error:
                self._failure = error
            self._closing.wait(SYNC_SECONDS)


def read_journal(path: Path | str, names: Collection[str] | None = None, *, salvage: bool = False) -> Journal:
    """Read an attempt's telemetry, framed or compacted; `path` may name either form.

    `names` limits which metrics are decoded, and with them time and memory. A journal may be read while it
    is written. Damage in the framed form is skipped and listed in `damage`; a compacted file that does not
    match its seal raises Damaged unless `salvage`, which reads what is whole and lists the rest.
    Raises NotARun if there is neither form.
    """
    framed, compacted = _forms(Path(path))
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        return FramedReader(framed, names).read()
    # A compaction that ends just now has put its file in place before it removed the journal.
    if compacted.exists():
        return read_compacted(compacted, names, salvage=salvage)
    raise NotARun(f"there is no journal {framed}, nor {compacted.name} beside it", remedy="check the path")


def verify_journal(path: Path | str) -> list[Damage]:
    """All damage that reading every value of an attempt's telemetry meets; empty if there is none."""
    return list(read_journal(path, salvage=True).damage)


def _forms(path: Path) -> tuple[Path, Path]:
    return path.with_suffix(".journal"), path.with_suffix(".parquet")
