"""The tape: what each step of somebody else's loop was given, in the order in which it was given.

    tape/000-0000-000000001.tape       attempt, number of the file, first step in it

A file is frames, as in a journal: the chunks of tensors, compressed, each tensor once a file by its hash;
and for every step its document, in which tensors stand as references. Files are of bounded size, and each
is read by itself. A step is on its way to the disk before it is taken.
"""

import contextlib
import os
import struct
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import torch
import xxhash
from torch import Tensor

from ontogeny.errors import Damaged
from ontogeny.store import files
from ontogeny.store.documents import json_bytes, parse_json
from ontogeny.store.files import Damage, fsync_folder, named_errors
from ontogeny.store.frames import Kind, Scanner, frame
from ontogeny.store.packing import require_short
from ontogeny.store.tensorfile import raw_bytes, storable

FORMAT = 1
#: Bytes after which a new file is begun, and bytes of a tensor that go into one frame.
LONGEST_FILE, CHUNK = 64 << 20, 4 << 20
SYNC_SECONDS = 1.0

_CHUNK = struct.Struct("<16sQ")  # hash of the tensor, and where in it the chunk begins
_LENGTH = struct.Struct("<I")
_ZSTD = pa.Codec("zstd")


class TapeWriter:
    """Appends what steps are given; one writer a run. In forked processes its methods return at once.

    A failed write leaves the tape as it was before the step and raises DiskFull, NotWritable or
    OntogenyError; the step may be tried again.
    """

    def __init__(self, folder: Path, attempt: int) -> None:
        self.folder, self.attempt = folder, attempt
        self._pid = os.getpid()
        self._descriptor: int | None = None
        self._path = folder
        self._size = self._sequence = self._number = 0
        self._known: set[bytes] = set()
        self._synced = time.monotonic()

    def append(self, step: int, document: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
        """Write what a step is given: a document, and the tensors it refers to by name."""
        if os.getpid() != self._pid:
            return
        if self._descriptor is None or self._size >= LONGEST_FILE:
            self._begin(step)
        size, sequence = self._size, self._sequence
        described, fresh = {}, {}
        try:
            for name, tensor in tensors.items():
                dense = storable(tensor, name)
                key = _key(dense)
                described[name] = {"hash": key.hex(), "dtype": _name(tensor), "shape": list(tensor.shape)}
                if key not in self._known and key not in fresh:
                    fresh[key] = dense
                    self._write_chunks(key, dense)
            text = json_bytes({"step": step, "tensors": described, "document": document}, indent=None)
            self._write(Kind.STEP, _compressed(text))
        except BaseException:
            with contextlib.suppress(OSError):
                os.ftruncate(self._open, size)
            self._size, self._sequence = size, sequence
            raise
        self._known.update(fresh)
        if time.monotonic() - self._synced > SYNC_SECONDS:
            self.sync()

    def sync(self) -> None:
        """Make what was appended durable; otherwise that happens within about a second of further steps."""
        if self._descriptor is not None and os.getpid() == self._pid:
            self._synced = time.monotonic()
            with named_errors(self._path):
                files.raw_fsync(self._descriptor)

    def close(self) -> None:
        """Make everything durable and let go of the file; a second call does nothing."""
        if self._descriptor is None or os.getpid() != self._pid:
            return
        try:
            self.sync()
        finally:
            os.close(self._descriptor)
            self._descriptor = None

    @property
    def _open(self) -> int:
        assert self._descriptor is not None, "a file has been begun"
        return self._descriptor

    def _begin(self, step: int) -> None:
        """A new file; the one before is closed."""
        self.close()
        with named_errors(self.folder):
            self.folder.mkdir(exist_ok=True)
            self._path = self.folder / f"{self.attempt:03d}-{self._number:04d}-{step:09d}.tape"
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND
            self._descriptor = os.open(self._path, flags, 0o666)
        self._size = self._sequence = 0
        self._known.clear()
        try:
            self._write(Kind.HEADER, json_bytes({"format": FORMAT, "started": time.time()}, indent=None))
            with named_errors(self.folder):
                fsync_folder(self.folder)
        except BaseException:
            os.close(self._descriptor)
            self._descriptor = None
            self._path.unlink(missing_ok=True)
            raise
        self._number += 1

    def _write_chunks(self, key: bytes, dense: Tensor) -> None:
        whole = raw_bytes(dense)
        for start in range(0, len(whole), CHUNK):
            part = whole[start : start + CHUNK]
            self._write(Kind.CHUNK, _CHUNK.pack(key, start) + _compressed(part))

    def _write(self, kind: Kind, payload: bytes) -> None:
        require_short(len(payload))
        data, done = frame(kind, self._sequence, payload), 0
        with named_errors(self._path, lambda: len(data)):
            while done < len(data):
                done += files.raw_write(self._open, data[done:])
        self._size += done
        self._sequence += 1


@dataclass
class _File:
    """What is in one file of a tape: chunks by tensor, documents by step, and what is damaged."""

    name: str
    chunks: dict[str, list[tuple[int, bytes]]] = field(default_factory=dict)
    steps: dict[int, dict[str, Any]] = field(default_factory=dict)
    damage: list[Damage] = field(default_factory=list)

    @classmethod
    def read(cls, path: Path) -> "_File":
        found = cls(path.name)
        with open(path, "rb", buffering=0) as stream:
            size = path.stat().st_size
            scanner = Scanner(stream, size, path.name, 8 << 20)  # pyright: ignore[reportArgumentType]
            for block in scanner.blocks():
                for kind, _, payload in block.others:
                    found._learn(kind, payload)
        found.damage = list(scanner.damage)
        return found

    def _learn(self, kind: Kind, payload: bytes) -> None:
        if kind is Kind.CHUNK:
            key, start = _CHUNK.unpack_from(payload)
            self.chunks.setdefault(key.hex(), []).append((start, payload[_CHUNK.size :]))
        elif kind is Kind.STEP:
            entry = parse_json(_expanded(payload), self.name)
            self.steps[entry["step"]] = entry
        elif kind is Kind.HEADER and parse_json(payload, self.name)["format"] != FORMAT:
            raise Damaged(f"{self.name} has a format that this version cannot read", allowed=str(FORMAT))

    def tensor(self, name: str, described: Mapping[str, Any]) -> Tensor:
        dtype = getattr(torch, described["dtype"])
        whole, end = bytearray(), 0
        for start, payload in sorted(self.chunks.get(described["hash"], ())):
            if start == end:  # a chunk may be there twice, after a write that was tried again
                whole += _expanded(payload)
                end = len(whole)
        stored = torch.empty(0, dtype=dtype).real.dtype if dtype.is_complex else dtype
        shape = [*described["shape"], 2] if dtype.is_complex else described["shape"]
        try:
            flat = torch.frombuffer(whole, dtype=stored) if whole else torch.empty(0, dtype=stored)
            dense = flat.reshape(shape)
        except (RuntimeError, ValueError):
            dense = None
        if dense is None or _key(dense).hex() != described["hash"]:
            raise Damaged(f"tape {self.name}: {name!r} cannot be read", remedy="restore the file from a copy")
        return torch.view_as_complex(dense) if dtype.is_complex else dense


class Tape:
    """Reads a run's tape. Of a step that several attempts were given, the newest attempt's is read; what an
    older attempt did beyond the step at which a newer one began is superseded."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files = sorted((_place(path), path) for path in folder.glob("*.tape"))
        self._read = lru_cache(maxsize=2)(_File.read)

    def read(self, step: int) -> tuple[Any, dict[str, Tensor]] | None:
        """The document of a step and its tensors; None if it is not on the tape. Raises Damaged."""
        for path in self._candidates(step):
            file = self._read(path)
            if step in file.steps:
                entry = file.steps[step]
                tensors = {name: file.tensor(name, one) for name, one in entry["tensors"].items()}
                return entry["document"], tensors
            if file.damage:
                raise Damaged(
                    f"step {step} may have been where the tape is damaged",
                    received=str(file.damage[0]),
                    remedy="restore the file from a copy",
                )
        return None

    def _candidates(self, step: int) -> list[Path]:
        """Files of the attempt that owns the step, from the last that can hold it backwards."""
        begun = [place for place, _ in self.files if place[1] == 0 and place[2] <= step]
        owner = max((attempt for attempt, _, _ in begun), default=-1)
        return [path for place, path in reversed(self.files) if place[0] == owner and place[2] <= step]

    def verify(self) -> list[Damage]:
        """Every frame against its checksum, every tensor of every step against its hash."""
        damage: list[Damage] = []
        for _, path in self.files:
            try:
                file = _File.read(path)
            except Damaged as error:
                damage.append(Damage(path.name, 0, path.stat().st_size, str(error.what)))
                continue
            damage += file.damage
            seen: set[str] = set()
            for step, entry in file.steps.items():
                for name, described in entry["tensors"].items():
                    if described["hash"] in seen:
                        continue
                    seen.add(described["hash"])
                    try:
                        file.tensor(name, described)
                    except Damaged:
                        damage.append(Damage(path.name, 0, 0, f"{name!r} of step {step} cannot be read"))
        return damage


def _place(path: Path) -> tuple[int, int, int]:
    attempt, number, first = path.stem.split("-")
    return int(attempt), int(number), int(first)


def _name(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _key(dense: Tensor) -> bytes:
    state = xxhash.xxh3_128(f"{tuple(dense.shape)}{dense.dtype}".encode())
    state.update(raw_bytes(dense))
    return state.digest()


def _compressed(data: bytes | memoryview) -> bytes:
    return _LENGTH.pack(len(data)) + _ZSTD.compress(data, asbytes=True)


def _expanded(payload: bytes) -> bytes:
    (length,) = _LENGTH.unpack_from(payload)
    return _ZSTD.decompress(payload[_LENGTH.size :], decompressed_size=length, asbytes=True)
