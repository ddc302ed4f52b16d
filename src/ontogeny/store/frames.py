"""Frames: how one record lies in a journal, and how a reader finds the next whole one after damage.

    magic (3) kind (1) | CRC32 (4) | length (3) check (1) | sequence (4) | payload (length)

all little-endian. The CRC covers everything but itself. `check` is the exclusive or of kind and length, so
that a changed length is not taken for a record still being written. The magic begins with 0xFF, which no
UTF-8 text contains: a string in a record cannot pass for a frame.
"""

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from typing import BinaryIO

from ontogeny.store.files import Damage

#: Version of what frames hold, written in the header and in compacted files.
FORMAT = 1
MAGIC = b"\xffJ\x0e"
LONGEST = (1 << 24) - 1

#: CRC, length with check, and sequence follow the four bytes of magic and kind.
_HEADER = struct.Struct("<4sIII")
HEADER_SIZE = _HEADER.size


class Kind(IntEnum):
    """What a payload holds."""

    HEADER = 1  # JSON: format version, wall clock at start
    SCHEMA = 2  # u4 id, then JSON: [[name, code], ...]
    STRING = 3  # u4 id, then UTF-8
    VALUES = 4  # u4 schema id, i8 step, f8 seconds, then the values
    NOTE = 5  # f8 seconds, then JSON: {"kind": ..., "data": {...}}
    CHUNK = 6  # of a tape: a stretch of a tensor's bytes
    STEP = 7  # of a tape: what one step was given


PREFIX = {kind: MAGIC + bytes([kind]) for kind in Kind}
SEED = {kind: zlib.crc32(prefix) for kind, prefix in PREFIX.items()}
_KIND_OF = {prefix: kind for kind, prefix in PREFIX.items()}
_SEED_OF = {prefix: SEED[kind] for kind, prefix in PREFIX.items()}


def packed_length(kind: Kind, length: int) -> int:
    """The length field of a frame: three bytes of length, one of check."""
    folded = kind ^ (length & 0xFF) ^ (length >> 8 & 0xFF) ^ (length >> 16)
    return length | folded << 24


def frame(kind: Kind, sequence: int, payload: bytes) -> bytes:
    """One whole frame."""
    rest = struct.pack("<II", packed_length(kind, len(payload)), sequence) + payload
    return PREFIX[kind] + zlib.crc32(rest, SEED[kind]).to_bytes(4, "little") + rest


@dataclass
class Block:
    """Whole frames of one stretch of a journal: where the records start in `buffer`, and all other frames.

    `base` is where the buffer begins in the file.
    """

    buffer: bytes
    base: int
    records: list[int] = field(default_factory=list)
    others: list[tuple[Kind, int, bytes]] = field(default_factory=list)


class Scanner:
    """Walks a journal in stretches, skips what is damaged and says so.

    After `blocks` has been exhausted, `damage` lists what was skipped or is missing, `waiting` counts the
    bytes of a record at the end that is not (or not yet) whole, and `next` is the sequence number due. A
    later look at the same file goes on where that record begins: `size` bytes from `base`, with `next`.
    """

    def __init__(
        self, stream: BinaryIO, size: int, file: str, stretch: int, *, base: int = 0, next: int = 0
    ) -> None:
        self.damage: list[Damage] = []
        self.waiting = 0
        self.next = next
        self._stream, self._left, self._file, self._stretch = stream, size, file, stretch
        self._base = base
        self._lost: int | None = None  # where the present unreadable stretch began
        self._torn: int | None = None  # first frame in it that would reach beyond the end of the file

    def blocks(self) -> Iterator[Block]:
        buffer, base, position = b"", self._base, 0
        while True:
            more = self._stream.read(min(self._stretch, self._left))
            self._left -= len(more)
            buffer, base = buffer[position:] + more, base + position
            block, position = self._walk(buffer, base, final=not more)
            yield block
            if not more:
                self._finish(base + len(buffer))
                return

    def _walk(self, buffer: bytes, base: int, final: bool) -> tuple[Block, int]:
        """Collect the whole frames of `buffer`; also returns how much of it needs no second look."""
        block, view, size = Block(buffer, base), memoryview(buffer), len(buffer)
        records, record, unpack, crc32 = block.records, PREFIX[Kind.VALUES], _HEADER.unpack_from, zlib.crc32
        position = 0
        while size - position >= HEADER_SIZE:
            prefix, crc, packed, sequence = unpack(buffer, position)
            end = position + HEADER_SIZE + (packed & LONGEST)
            seed = _SEED_OF.get(prefix)
            if seed is not None and end <= size and crc32(view[position + 8 : end], seed) == crc:
                if sequence != self.next or self._lost is not None:
                    self._resume(base + position, sequence)
                self.next = sequence + 1
                if prefix == record:
                    records.append(position)
                else:
                    payload = buffer[position + HEADER_SIZE : end]
                    block.others.append((_KIND_OF[prefix], sequence, payload))
                position = end
                continue
            if (
                end > size
                and seed is not None
                and packed_length(_KIND_OF[prefix], packed & LONGEST) == packed
            ):
                if not final:
                    break
                self._torn = base + position if self._torn is None else self._torn
            self._lost = base + position if self._lost is None else self._lost
            found = buffer.find(MAGIC, position + 1)
            position = found if found >= 0 else max(position + 1, size - len(MAGIC) + 1)
        if final and position < size and self._lost is None:
            self._lost = base + position
            if buffer.startswith(MAGIC[: size - position], position):
                self._torn = self._lost
        return block, position

    def _resume(self, offset: int, sequence: int) -> None:
        """A whole frame after something else than its predecessor: say what lies between."""
        start = offset if self._lost is None else self._lost
        gone = sequence - self.next
        if gone > 0:
            last = "" if gone == 1 else f" to {sequence - 1}"
            what = f"frame {self.next}{last} cannot be read"
        else:
            what = "bytes that are no frame" if gone == 0 else f"frame {sequence} is out of sequence"
        self.damage.append(Damage(self._file, start, offset - start, what))
        self._lost = self._torn = None

    def _finish(self, size: int) -> None:
        """`size` is where the file ends."""
        if self._lost is None:
            return
        end = size if self._torn is None else self._torn
        self.waiting = size - end
        if end > self._lost:
            what = f"frame {self.next} cannot be read, nor any after it"
            self.damage.append(Damage(self._file, self._lost, end - self._lost, what))
