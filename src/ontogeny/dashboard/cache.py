"""What the dashboard derived, kept outside every run, by what it was derived from; it may be deleted."""

import contextlib
import os
import sys
from pathlib import Path

#: Bytes the cache may hold when a server starts; the longest unused goes first.
LARGEST = 2 << 30


def cache_home() -> Path:
    """$XDG_CACHE_HOME/ontogeny, or where this platform keeps caches."""
    if given := os.environ.get("XDG_CACHE_HOME"):
        return Path(given) / "ontogeny" / "dashboard"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "ontogeny" / "dashboard"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "ontogeny" / "Cache" / "dashboard"
    return Path.home() / ".cache" / "ontogeny" / "dashboard"


def prune(home: Path, largest: int = LARGEST) -> None:
    """Delete the longest unused files until the rest is small enough."""
    found = []
    for path in home.rglob("*"):
        with contextlib.suppress(OSError):
            if path.is_file():
                state = path.stat()
                found.append((max(state.st_atime, state.st_mtime), state.st_size, path))
    left = sum(size for _, size, _ in found)
    for _, size, path in sorted(found, key=lambda one: one[0]):
        if left <= largest:
            return
        with contextlib.suppress(OSError):
            path.unlink()
            left -= size
