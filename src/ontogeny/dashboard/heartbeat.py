"""Whether a run is alive: by how its last attempt ended, else by its heartbeat, never by a lock.

Every record is a heartbeat. A run without an end is running while its journal grows, or while the process
that names itself as the writer is there on this machine; otherwise it was killed.
"""

import os
import re
import socket
import time
from pathlib import Path

#: Seconds since the last record within which a run is taken for alive whatever else is known.
FRESH = 10.0
#: Seconds of silence that are always forgiven, and how many times the longest recent step.
PATIENCE, PATIENT_STEPS = 60.0, 30
#: Seconds by which a file's time and a process' may disagree.
CLOCKS_DIFFER = 5.0
#: What the lock file of a writer says, and what it is called.
WRITER, NAMED = ".writer", re.compile(r"process (\d+) on (\S+)")

_ENDED = {"finished": "finished", "interrupted": "stopped", "failed": "stopped"}


def status_of(run: Path, outcome: str, beat: float | None, longest_step: float = 0.0) -> str:
    """running, finished, stopped, killed, or unknown where nothing was ever recorded.

    outcome       what the end of the last attempt says; empty if it has none
    beat          when its journal was last written, seconds since 1970; None without a journal
    longest_step  seconds of the longest of its last steps
    """
    if outcome:
        return _ENDED.get(outcome, "stopped")
    if beat is None:
        return "unknown"
    silent = time.time() - beat
    if silent < FRESH:
        return "running"
    alive = _writer_alive(run)
    if alive is not None:
        return "running" if alive else "killed"
    return "running" if silent < max(PATIENCE, PATIENT_STEPS * longest_step) else "killed"


def _writer_alive(run: Path) -> bool | None:
    """Whether the process named in the lock file is there; None where nobody can say from here."""
    try:
        with open(run / WRITER, encoding="utf-8", errors="replace") as file:
            named, signed = NAMED.match(file.read(200)), os.fstat(file.fileno()).st_mtime
    except OSError:
        return None
    if named is None or named.group(2) != socket.gethostname():
        return None
    process = int(named.group(1))
    try:
        os.kill(process, 0)  # signal 0: nothing is sent, only asked
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    began = _began(process)
    return began is None or began <= signed + CLOCKS_DIFFER  # else it has the number of one that died


def _began(process: int) -> float | None:
    """When a process began, seconds since 1970; None where the system does not tell it this way."""
    try:
        ticks = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19])
        booted = re.search(r"^btime (\d+)", Path("/proc/stat").read_text(), re.MULTILINE)
    except (OSError, ValueError, IndexError):
        return None
    return None if booted is None else int(booted.group(1)) + ticks / os.sysconf("SC_CLK_TCK")
