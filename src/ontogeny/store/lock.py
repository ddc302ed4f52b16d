"""One writer at a time: a lock that names its holder and dies with its process."""

import fcntl
import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ontogeny.errors import RunHeld
from ontogeny.store.files import clear_temporaries, named_errors


@contextmanager
def held(folder: Path, name: str, doing: str, sweep: Sequence[str] = ()) -> Iterator[None]:
    """Hold `folder` for one kind of writing (`name`); RunHeld names the process that does it already.

    Whoever gets the lock sweeps away what killed writers left in the folders of `sweep`.
    """
    with named_errors(folder), (folder / f".{name}").open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            file.seek(0)
            raise RunHeld(
                f"{folder} is being {doing} by another process",
                received=file.read().strip() or "an unnamed process",
                remedy="wait for it, or stop it",
            ) from error
        file.truncate(0)
        file.write(f"process {os.getpid()} on {socket.gethostname()}\n")
        file.flush()
        for inner in sweep:
            clear_temporaries(folder / inner)
        yield
