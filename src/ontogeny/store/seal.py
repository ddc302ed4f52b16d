"""A seal for Parquet files: the xxh3-128 of the whole file, kept in the file's own metadata.

Page checksums cover the pages and nothing else. The seal covers page headers, names and footer too, and
any Parquet reader reads a sealed file as usual. The hash is taken with the place of the seal blank.
"""

from pathlib import Path
from typing import BinaryIO

import xxhash

from ontogeny.store.files import Damage

#: The prefix leaves ASCII, which the rest of a footer of ours does not: a seal is found whatever is stored.
_PREFIX, _BLANK = "§xxh3_128:".encode(), b"0" * 32
#: Bytes of Parquet that one thread has read before a pool of them is awake.
ALONE = 1 << 20
#: The key and value to add to a file's metadata before it is closed.
UNSEALED = {b"ontogeny.seal": _PREFIX + _BLANK}


class SealingSink:
    """Passes a Parquet file on to its sink and puts the hash of all of it into the place kept for it.

    The footer, where that place is, is held back until everything has been seen.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._hash = file, xxhash.xxh3_128()
        self._held: bytearray | None = None
        self.closed = False

    def write(self, data: bytes) -> int:
        self._hash.update(data)
        if self._held is None:
            return self._file.write(data)
        self._held += data
        return len(data)

    def tell(self) -> int:
        return self._file.tell() + len(self._held or b"")

    def flush(self) -> None: ...

    def close(self) -> None: ...

    def hold(self) -> None:
        """Keep what comes from now on: the footer."""
        self._held = bytearray()

    def finish(self) -> None:
        """Seal the footer and pass it on."""
        held = self._held or bytearray()
        place = held.rindex(_PREFIX + _BLANK) + len(_PREFIX)
        held[place : place + len(_BLANK)] = self._hash.hexdigest().encode()
        self._file.write(bytes(held))


def broken_seal(path: Path) -> list[Damage]:
    """Hash a file with the place of its seal blank, as it was when the seal was made; empty if they agree."""
    size = path.stat().st_size
    with open(path, "rb") as file:
        file.seek(max(size - 8, 0))
        footer = min(int.from_bytes(file.read(4), "little") + 8, size)
        file.seek(size - footer)
        tail = file.read()
        place = tail.rfind(_PREFIX)
        if place < 0:
            return [Damage(path.name, 0, size, "it has no seal: cut short, or not written by ontogeny")]
        place += len(_PREFIX)
        sealed = tail[place : place + len(_BLANK)]
        state = xxhash.xxh3_128()
        file.seek(0)
        left = size - footer
        while left and (data := file.read(min(1 << 20, left))):
            state.update(data)
            left -= len(data)
        state.update(tail[:place] + _BLANK + tail[place + len(_BLANK) :])
    if state.hexdigest().encode() == sealed:
        return []
    return [Damage(path.name, 0, size, "it is not what was written: its seal does not match")]
