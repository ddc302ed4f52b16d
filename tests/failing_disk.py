"""A disk that fails at the k-th write, fsync or rename, or from there on."""

import errno
import os
import threading
from collections.abc import Callable

import pytest

from ontogeny.store import files

CODES = (errno.EIO, errno.ENOSPC, errno.EDQUOT)
#: The codes that say that there is no room, now or for this user.
FULL = (errno.ENOSPC, errno.EDQUOT)


class FailingDisk:
    """Lets the seam's calls through until the `at`-th, which fails; with `stays`, so do all after it.

    A write that fails puts half of its bytes on the disk first. Calls are counted over all threads; `struck`
    names the thread that met the fault first, and is empty if none did.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._lock = threading.Lock()
        self.arm(0)
        for name in ("raw_write", "raw_fsync", "raw_rename"):
            monkeypatch.setattr(files, name, self._failing(name, getattr(files, name)))

    def arm(self, at: int, code: int = 0, stays: bool = False) -> None:
        self.at, self.code, self.stays = at, code, stays
        self.calls, self.struck = 0, ""

    def disarm(self) -> None:
        self.at = 0

    def _failing(self, name: str, call: Callable) -> Callable:
        def failing(*given):
            if not self._strikes():
                return call(*given)
            if name == "raw_write":
                call(given[0], given[1][: len(given[1]) // 2])
            raise OSError(self.code, os.strerror(self.code))

        return failing

    def _strikes(self) -> bool:
        with self._lock:
            self.calls += 1
            strikes = self.at > 0 and (self.calls == self.at or (self.stays and self.calls > self.at))
            if strikes and not self.struck:
                self.struck = threading.current_thread().name
            return strikes
