"""A training that is watched is neither slowed nor disturbed, whatever becomes of the watcher."""

import contextlib
import http.client
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from ontogeny.store.journal import verify_journal
from ontogeny.store.lock import held
from ontogeny.store.run import Run

WINDOW, PAIRS, RATE = 2.5, 12, 100
TRAINING = Path(__file__).resolve().parents[1] / "watched_training.py"


class Viewer:
    """The dashboard as a process, and somebody who asks it a hundred times a second."""

    def __init__(self, home: Path, cache: Path) -> None:
        command = [sys.executable, "-m", "ontogeny", "dashboard", str(home), "--no-browser", "--port", "0"]
        environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "OMP_NUM_THREADS": "1", "COLUMNS": "200"}
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline().decode().split("127.0.0.1:")[1].split("/")[0])
        self.asked = 0
        self.run = json.loads(self.get("/api/collection"))["runs"][0]["id"]

    def get(self, path: str) -> bytes:
        asking = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        with contextlib.closing(asking):
            asking.request("GET", path)
            answer = asking.getresponse()
            body = answer.read()
            assert answer.status == 200, body
            return body

    def poll(self, seconds: float) -> None:
        """Ask at the rate, as far as the server keeps up; what is asked changes each time."""
        paths = [
            f"/api/series?runs={self.run}&metric=loss&smooth=0.1",
            "/api/collection",
            f"/api/series?runs={self.run}&metric=gradient_norm&x=time",
            f"/api/runs/{self.run}/metrics",
        ]
        until = time.monotonic() + seconds
        while (now := time.monotonic()) < until:
            self.get(paths[self.asked % len(paths)])
            self.asked += 1
            time.sleep(max(0.0, now + 1 / RATE - time.monotonic()))

    def poll_until_it_dies(self) -> None:
        with contextlib.suppress(OSError, http.client.HTTPException):
            self.poll(30)

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.mark.slow
def test_a_watched_training_goes_on_as_if_nobody_watched(tmp_path):
    """Windows with and without a viewer alternate over one run. The processor time of a step is compared,
    for other work on this machine changes the time on the wall; that is printed beside it."""
    home, end = tmp_path / "runs", tmp_path / "end"
    home.mkdir()
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(TRAINING), str(home / "run"), str(end)]
    training = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE)
    while not list(home.glob("run/journal/*.journal")):
        time.sleep(0.1)
        assert training.poll() is None
    viewer = Viewer(home, tmp_path / "cache")
    windows = []
    for _ in range(PAIRS):
        for watched in (True, False):
            started = time.monotonic()
            viewer.poll(WINDOW) if watched else time.sleep(WINDOW)
            windows.append((watched, started, time.monotonic()))
    asking = threading.Thread(target=viewer.poll_until_it_dies)
    asking.start()
    time.sleep(0.5)
    viewer.kill()  # in the midst of an answer
    asking.join(30)
    end.touch()
    _, complaint = training.communicate(timeout=120)
    assert (training.returncode, complaint) == (0, b"")

    require_whole(home / "run")
    medians, walls = medians_of(Run.open(home / "run"), windows)
    ratio, on_the_wall = (np.median(one[True] / one[False]) for one in (medians, walls))
    spread = np.subtract(*np.percentile(medians[False][1:] / medians[False][:-1], [90, 10]))
    print(f"\n{viewer.asked / (PAIRS * WINDOW):.0f} answers a second; watched steps take {ratio:.3f} of the")
    print(f"processor time (unwatched windows differ by {spread:.3f}), {on_the_wall:.3f} on the wall")
    assert viewer.asked > PAIRS * WINDOW  # a busy machine gives the viewer little
    assert ratio < 1 + max(0.05, spread)


def require_whole(path: Path) -> None:
    """Finished, without damage, and nobody has it."""
    run = Run.open(path)
    assert run.outcome == "finished"
    assert [verify_journal(journal) for journal in run.journals] == [[]]
    assert run.verify() == []
    with held(path, "writer", "written"):
        pass


def medians_of(run: Run, windows: list[tuple[bool, float, float]]) -> list[dict[bool, np.ndarray]]:
    """Processor time and wall time of a step, the median of every window, watched and not."""
    told = run.telemetry("cpu", "ended", "step_seconds")
    ended = told["ended"].to_numpy()
    found = []
    for name in ("cpu", "step_seconds"):
        values = told[name].to_numpy()
        middle = lambda first, end, values=values: np.median(values[(ended > first + 0.2) & (ended < end)])
        found.append(
            {
                watched: np.array([middle(a, b) for w, a, b in windows if w is watched])
                for watched in (True, False)
            }
        )
    return found
