"""The same sweeps on Ray: a real local cluster, and what is said where there is none."""

import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from ontogeny.errors import MissingExtra
from ontogeny.record.train import train
from ontogeny.store.documents import read_json
from ontogeny.store.rows import read_rows
from ontogeny.store.run import Run
from ontogeny.sweep import State, measure_many, sweep
from ontogeny.vocabulary import AXES

PARTS = ("stable_rank", "residual_norm")


def test_without_ray_the_extra_is_named(tmp_path, plan, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"pip install 'ontogeny\[ray\]'"):
        sweep(plan(1), tmp_path, engine="ray")


class Watcher(threading.Thread):
    """Sends a signal to the process that writes a run, once the run has a checkpoint beyond the first."""

    def __init__(self, path: Path, number: signal.Signals) -> None:
        super().__init__(daemon=True)
        self.path, self.number, self.sent = path, number, 0

    def run(self) -> None:
        while not (self.path / "checkpoints" / "000004").exists():
            time.sleep(0.02)
        self.sent = (
            int((self.path / ".writer").read_text().split()[1]) if self.number == signal.SIGKILL else 0
        )
        os.kill(self.sent or os.getpid(), self.number)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # Ray's own
def test_a_ray_worker_killed_in_a_sweep_loses_and_doubles_nothing(tmp_path, plan):
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'ontogeny[ray]'")
    runs = plan(4, steps=300)
    watcher = Watcher(tmp_path / "swept" / "seed-0", signal.SIGKILL)
    watcher.start()
    ledger = sweep(runs, tmp_path / "swept", workers=2, engine="ray", grade=False)
    watcher.join()
    assert watcher.sent not in (0, os.getpid())
    assert ledger.names(State.FINISHED) == [one.name for one in runs]
    assert [ledger[one.name].attempts for one in runs] == [2, 1, 1, 1]
    assert "WorkerCrashedError" in ledger["seed-0"].reasons[0]
    for one in runs:
        run, whole = (
            Run.open(tmp_path / "swept" / one.name),
            train(one.recipe, tmp_path / one.name, grade=False),
        )
        assert run.attempts == (2 if one.name == "seed-0" else 1)
        assert run.telemetry("loss")["loss"].tolist() == whole.telemetry("loss")["loss"].tolist()
    found = measure_many(
        [Run.open(tmp_path / "swept" / one.name) for one in runs[:2]], tmp_path / "swept", PARTS
    )
    again = measure_many(
        [Run.open(tmp_path / "swept" / one.name) for one in runs],
        tmp_path / "swept",
        PARTS,
        workers=2,
        engine="ray",
    )
    assert len(found.names(State.FINISHED)) < len(again.names(State.FINISHED)) == len(again.entries)
    for one in runs:
        run = Run.open(tmp_path / "swept" / one.name)
        frame = read_rows(run.path)
        assert not frame.duplicated(["step", "part", "component", "stimulus", *AXES]).any()
        for part in PARTS:
            assert set(frame[frame["part"] == part]["step"]) == {c.step for c in run.checkpoints}


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_an_interruption_stops_ray_workers_at_a_step(tmp_path, plan, interruptible):
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'ontogeny[ray]'")
    runs = plan(2, steps=100_000)
    watcher = Watcher(tmp_path / "seed-1", signal.SIGINT)
    watcher.start()
    with pytest.raises(KeyboardInterrupt):
        sweep(runs, tmp_path, workers=2, engine="ray", grade=False)
    told = read_json(tmp_path / "sweep.json")["tasks"]
    assert {task["state"] for task in told.values()} == {"stopped"}
    run = Run.open(tmp_path / "seed-1")
    assert run.outcome == "interrupted"
    assert run.checkpoints[-1].step == run.telemetry("loss")["step"].max(), "the step it was at is committed"
