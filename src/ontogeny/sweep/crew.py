"""Worker processes on this machine: spawned, one torch thread each, replaced when one dies.

A `ProcessPoolExecutor` is broken as a whole by one dead worker, and does not say which task killed it; a
`multiprocessing.Pool` hangs. Here every worker has a pipe of its own, and its death ends its own task only.
"""

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from typing import Any

from ontogeny.sweep.task import End, Ended, Heard, Task, attempt

#: Libraries read their thread counts when they are loaded, which is before any call could set them.
ONE_THREAD = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


class LocalCrew:
    """`size` processes at most, started when first needed and kept for further tasks."""

    name = "local"

    def __init__(self, size: int) -> None:
        self.size = size
        self._workers: list[_Worker] = []

    @property
    def busy(self) -> int:
        return sum(worker.task is not None for worker in self._workers)

    def give(self, task: Task) -> None:
        idle = [worker for worker in self._workers if worker.task is None]
        if not idle:
            idle.append(_Worker())
            self._workers += idle
        if not idle[0].give(task):  # it died while it had nothing to do
            self._workers.remove(idle[0])
            self.give(task)

    def wait(self, seconds: float) -> Sequence[Ended | Heard]:
        found = [happened for worker in self._ready(seconds) for happened in worker.hear()]
        self._workers = [worker for worker in self._workers if not worker.gone]
        return found

    def stop(self) -> Sequence[Ended]:
        found: list[Ended] = []
        for worker in self._workers:
            worker.ask_to_stop()
        try:
            while self._workers:
                found += [happened for happened in self.wait(60) if isinstance(happened, Ended)]
        except KeyboardInterrupt:  # the second one does not wait
            for worker in self._workers:
                worker.process.kill()
            raise
        return found

    def _ready(self, seconds: float) -> list["_Worker"]:
        by_handle: dict[Any, _Worker] = {}
        for worker in self._workers:
            by_handle |= {worker.connection: worker, worker.process.sentinel: worker}
        ready = wait(list(by_handle), timeout=seconds) if by_handle else []
        return list({id(by_handle[handle]): by_handle[handle] for handle in ready}.values())


class _Worker:
    """A process and our end of its pipe."""

    def __init__(self) -> None:
        context = get_context("spawn")  # forked children of a process with threads may hang (F20, F21)
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs,))
        with _one_thread():
            self.process.start()
        theirs.close()
        self.task: Task | None = None
        self.gone = False

    def give(self, task: Task) -> bool:
        """Whether it could be told."""
        self.task = task  # first, so that an interruption from here on stops it
        try:
            self.connection.send(task)
        except OSError:
            self.task = None
            self.process.join()
            return False
        return True

    def hear(self) -> Iterator[Ended | Heard]:
        """All it said; and if it is dead, that its task died with it."""
        try:
            while self.connection.poll():
                kind, content = self.connection.recv()
                if self.task is None:
                    continue
                if kind == "tell":
                    yield Heard(self.task, content)
                else:
                    task, self.task = self.task, None
                    yield Ended(task, End(kind), content)
        except (EOFError, OSError):
            yield from self._bury()
            return
        if not self.process.is_alive() and not self.connection.poll():
            yield from self._bury()

    def _bury(self) -> Iterator[Ended]:
        self.process.join()
        self.connection.close()
        self.gone = True
        if self.task is not None:
            task, self.task = self.task, None
            yield Ended(task, End.DIED, cause_of_death(self.process.exitcode))

    def ask_to_stop(self) -> None:
        """SIGTERM if it is at a task, and in any case no more tasks."""
        with suppress(OSError):
            self.connection.send(None)
        if self.task is not None:
            self.process.terminate()


def cause_of_death(code: int | None) -> str:
    """An exit code in words."""
    if code is None or code >= 0:
        return f"the worker ended with exit status {code}"
    name = signal.Signals(-code).name
    also = " (by hand, or because memory ran out)" if name == "SIGKILL" else ""
    return f"the worker was killed by {name}{also}"


def serve(connection: Connection) -> None:
    """A worker's life: tasks from the pipe, one after another, until there are no more."""
    import torch  # the parent may be a process that needs none of it

    torch.set_num_threads(1)
    os.setpgid(0, 0)  # Ctrl-C reaches the parent alone, which asks the workers to stop
    threading.Thread(target=_stop_with_parent, daemon=True).start()
    with suppress(EOFError, OSError):
        while (task := connection.recv()) is not None:
            end, reason = attempt(task, lambda **facts: connection.send(("tell", facts)))
            connection.send((str(end), reason))


def _stop_with_parent() -> None:
    """Without its parent nobody would wait for this worker's results, and a new sweep would meet it."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


@contextmanager
def _one_thread() -> Iterator[None]:
    """The environment of processes started within the block."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
