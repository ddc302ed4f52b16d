"""The one process that looks into checkpoints: started when needed, ended when it is idle or too slow."""

import contextlib
import os
import select
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import IO, NoReturn

from ontogeny.errors import NotObservable

#: Seconds a look may take, and seconds after which an idle process ends.
SECONDS, IDLE = 120.0, 90.0


class Child:
    """Takes jobs one after the other, with one torch thread and a low priority."""

    def __init__(self, seconds: float = SECONDS, idle: float = IDLE) -> None:
        self.seconds, self.idle = seconds, idle
        self._process: subprocess.Popen[bytes] | None = None
        self._complaints: IO[bytes] | None = None
        self._turn = threading.RLock()
        self._used = 0.0
        self._ending: threading.Timer | None = None

    def carry_out(self, job: Path) -> None:
        """Have a job answered. NotObservable if that takes too long, or the process dies of it."""
        with self._turn:
            process = self._running()
            given, answers = process.stdin, process.stdout
            if given is None or answers is None:
                raise AssertionError("the child has no pipes")
            try:
                given.write(f"{job}\n".encode())
                given.flush()
            except BrokenPipeError:
                self._died()
            self._wait(answers)
            self._used = time.monotonic()
            self._end_when_idle()

    def _wait(self, answers: IO[bytes]) -> None:
        ready, _, _ = select.select([answers], [], [], self.seconds)
        if not ready:
            self.close()
            raise NotObservable("looking took too long", received=f"more than {self.seconds:g} s")
        if not answers.readline():
            self._died()

    def _died(self) -> NoReturn:
        said: list[str] = []
        if self._complaints is not None:
            self._complaints.seek(0)
            said = self._complaints.read().decode(errors="replace").strip().splitlines()
        self.close()
        raise NotObservable("the process that looked died", received=said[-1][:300] if said else None)

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._complaints = tempfile.TemporaryFile()  # noqa: SIM115  # the process writes to it
            self._process = subprocess.Popen(
                [sys.executable, "-m", "ontogeny.dashboard.glimpse"],
                env={**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._complaints,
            )
        return self._process

    def _end_when_idle(self) -> None:
        if self._ending is not None:
            self._ending.cancel()
        self._ending = threading.Timer(self.idle, self._end_if_idle)
        self._ending.daemon = True
        self._ending.start()

    def _end_if_idle(self) -> None:
        with self._turn:
            if time.monotonic() - self._used >= self.idle:
                self.close()

    def close(self) -> None:
        """End the process, whatever it does; whoever waits for it hears that it died."""
        process = self._process
        if self._ending is not None:
            self._ending.cancel()
        if process is None:
            return
        process.kill()
        process.wait()
        if self._turn.acquire(blocking=False):
            try:
                for pipe in (process.stdin, process.stdout, self._complaints):
                    if pipe is not None:
                        with contextlib.suppress(OSError):
                            pipe.close()
                self._process = self._complaints = None
            finally:
                self._turn.release()
