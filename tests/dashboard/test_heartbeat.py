"""A run's status is told by its end, else by its heartbeat; a lock is never taken to find out."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dashboard_runs import attempt, losses
from ontogeny.dashboard.heartbeat import FRESH, PATIENCE, status_of
from ontogeny.store.lock import held
from ontogeny.store.run import Run


@pytest.mark.parametrize(
    ("outcome", "status"),
    [("finished", "finished"), ("interrupted", "stopped"), ("failed", "stopped"), ("odd", "stopped")],
)
def test_an_end_says_it_all(tmp_path, outcome, status):
    assert status_of(tmp_path, outcome, time.time()) == status


def test_a_run_that_recorded_nothing_is_unknown(tmp_path):
    assert status_of(tmp_path, "", None) == "unknown"


def test_a_fresh_record_is_a_heartbeat(tmp_path):
    writer(tmp_path, gone(), socket.gethostname())
    assert status_of(tmp_path, "", time.time() - FRESH / 2) == "running"


def writer(run, process, host):
    (run / ".writer").write_text(f"process {process} on {host}\n")


def gone() -> int:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    return ended.pid


def test_the_writer_is_asked_after_by_its_number(tmp_path):
    long_ago = time.time() - 10 * PATIENCE
    writer(tmp_path, os.getpid(), socket.gethostname())
    assert status_of(tmp_path, "", long_ago) == "running"
    writer(tmp_path, gone(), socket.gethostname())
    assert status_of(tmp_path, "", time.time() - 2 * FRESH) == "killed"
    writer(tmp_path, 10**12, socket.gethostname())
    assert status_of(tmp_path, "", long_ago) == "killed"


@pytest.mark.skipif(not Path("/proc/stat").exists(), reason="this system does not say when a process began")
def test_a_number_that_another_process_has_now_is_nobodys(tmp_path):
    writer(tmp_path, os.getpid(), socket.gethostname())
    os.utime(tmp_path / ".writer", (1e9, 1e9))
    assert status_of(tmp_path, "", time.time() - 10 * PATIENCE) == "killed"


def test_elsewhere_only_silence_tells(tmp_path):
    writer(tmp_path, 1, "another machine")
    assert status_of(tmp_path, "", time.time() - PATIENCE / 2) == "running"
    assert status_of(tmp_path, "", time.time() - 2 * PATIENCE) == "killed"
    assert status_of(tmp_path, "", time.time() - 2 * PATIENCE, longest_step=PATIENCE) == "running"


def test_a_killed_run_is_shown_as_killed_and_a_held_one_stays_held(tmp_path, serving):
    run = Run.create(tmp_path / "killed", {"title": "t"})
    attempt(run, 0, losses([1.0, 2.0]), outcome=None)
    journal = run.path / "journal" / "000.journal"
    with held(run.path, "writer", "written"):
        client = serving(tmp_path)
        assert client.get("/api/collection")["runs"][0]["status"] == "running"
    long_ago = time.time() - 10 * PATIENCE
    os.utime(journal, (long_ago, long_ago))
    client = serving(tmp_path)
    assert client.get("/api/collection")["runs"][0]["status"] == "killed"
    with held(run.path, "writer", "written"):  # nobody else has it
        pass
