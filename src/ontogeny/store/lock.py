"""One writer at a time: a lock that names its holder and dies with its process."""

import fcntl
import os
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from ontogeny.errors import RunHeld
from ontogeny.store.files import clear_temporaries, named_errors

#: How long a process that does not get the lock waits for the name of the one that just did.
NAME_SECONDS = 1.0

_files: set[TextIO] = set()


def _let_go() -> None:
    """In a forked child: its copy of a lock would outlive the process that holds it."""
    for file in _files:
        file.close()
    _files.clear()


os.register_at_fork(after_in_child=_let_go)


@contextmanager
def held(folder: Path, name: str, doing: str, sweep: Sequence[str] = ()) -> Iterator[None]:
    """Hold `folder` for one kind of writing (`name`); RunHeld names the process that does it already.

    Whoever gets the lock sweeps away what killed writers left in the folders of `sweep`.
    """
    with named_errors(folder), (folder / f".{name}").open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise RunHeld(
                f"{folder} is being {doing} by another process",
                received=_holder(file) or "an unnamed process",
                remedy="wait for it, or stop it",
            ) from error
        file.truncate(0)
        file.write(f"process {os.getpid()} on {socket.gethostname()}\n")
        file.flush()
        _files.add(file)
        try:
            for inner in sweep:
                clear_temporaries(folder / inner)
            yield
        finally:
            if file in _files:  # not so in a forked child
                _files.remove(file)
                file.truncate(0)


def _holder(file: TextIO) -> str:
    """What the holder wrote; one that has just got the lock may not have come to it yet."""
    until = time.monotonic() + NAME_SECONDS
    while True:
        file.seek(0)
        if (found := file.read().strip()) or time.monotonic() > until:
            return found
        time.sleep(0.01)
