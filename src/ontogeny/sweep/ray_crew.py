"""Workers on Ray: this machine's processes, or a cluster's that shares the folder with it."""

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ontogeny.errors import MissingExtra
from ontogeny.sweep.task import End, Ended, Heard, Task, attempt

#: How long workers are waited for after they were asked to stop.
STOP_SECONDS = 120


class RayCrew:
    """`size` tasks at a time, one core each, on the cluster of RAY_ADDRESS, or on a new local one.

    Folders are given by absolute path, so the cluster's machines must share them. Steps are not told while
    a task runs, only its end. Ray's own retries are off: an engine counts attempts.
    """

    name = "ray"

    def __init__(self, size: int) -> None:
        self.size = size
        self._ray = _imported()
        self._ours = not self._ray.is_initialized()
        if self._ours:
            cluster = {"address": "auto"} if os.environ.get("RAY_ADDRESS") else {"num_cpus": size}
            self._ray.init(include_dashboard=False, log_to_driver=False, **cluster)
        self._remote = self._ray.remote(num_cpus=1, max_retries=0)(_attempt_here)
        self._tasks: dict[Any, Task] = {}

    @property
    def busy(self) -> int:
        return len(self._tasks)

    def give(self, task: Task) -> None:
        self._tasks[self._remote.remote(task, str(Path.cwd()))] = task

    def wait(self, seconds: float) -> Sequence[Ended | Heard]:
        return self._ended(seconds)

    def stop(self) -> Sequence[Ended]:
        for reference in self._tasks:
            self._ray.cancel(reference, force=False)
        found: list[Ended] = []
        deadline = time.monotonic() + STOP_SECONDS
        while self._tasks and time.monotonic() < deadline:
            found += self._ended(1.0)
        if self._ours:
            self._ray.shutdown()
        return found

    def _ended(self, seconds: float) -> list[Ended]:
        if not self._tasks:
            return []
        ready, _ = self._ray.wait(list(self._tasks), num_returns=1, timeout=seconds)
        return [self._end_of(reference) for reference in ready]

    def _end_of(self, reference: Any) -> Ended:
        task = self._tasks.pop(reference)
        errors = self._ray.exceptions
        try:
            end, reason = self._ray.get(reference)
        except errors.TaskCancelledError:
            return Ended(task, End.STOPPED, "cancelled")
        except errors.RayError as error:  # a worker that crashed, ran out of memory or was lost with its node
            return Ended(task, End.DIED, f"{type(error).__name__}: {str(error).strip().splitlines()[0]}")
        return Ended(task, End(end), reason)


def _attempt_here(task: Task, folder: str) -> tuple[str, str]:
    """On a worker: paths in recipes are relative to where the sweep was started."""
    import torch  # the driver pickles this function; only workers need torch

    torch.set_num_threads(1)
    if Path(folder).is_dir():
        os.chdir(folder)
    end, reason = attempt(task, lambda **facts: None)
    return str(end), reason


def _imported() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent anywhere unless asked for
    try:
        import ray  # an optional extra
        import ray.exceptions
    except ImportError as error:
        raise MissingExtra(
            "the engine 'ray' needs Ray", received="no ray", remedy="pip install 'ontogeny[ray]'"
        ) from error
    return ray
