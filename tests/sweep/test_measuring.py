"""Measuring many runs: every 20th worker killed, nothing lost, nothing doubled."""

import shutil
from pathlib import Path

import pandas as pd
import pytest

from ontogeny.errors import RunHeld
from ontogeny.measure import measure
from ontogeny.record.train import train
from ontogeny.store.collection import Runs
from ontogeny.store.lock import held
from ontogeny.store.rows import read_rows, read_table
from ontogeny.sweep import State, measure_many
from ontogeny.sweep import measuring as subject
from ontogeny.vocabulary import AXES
from sweep_works import measure_or_die, measure_or_die_once

PARTS = ("stable_rank", "residual_norm")


def rows(path: Path) -> pd.DataFrame:
    frame = read_rows(path).drop(columns="run")
    return frame.sort_values(["step", "part", "component", "stimulus", *AXES], ignore_index=True)


@pytest.fixture
def collection(tmp_path, plan):
    """`collection(name, count, steps)`: copies of one run, and what measuring it alone gives."""

    def make(name: str, count: int, steps: int) -> tuple[Runs, pd.DataFrame]:
        if not (tmp_path / "whole").exists():
            train(plan(1, steps)[0].recipe, tmp_path / "whole", grade=False)
        for number in range(count):
            shutil.copytree(tmp_path / "whole", tmp_path / name / f"run-{number}")
        measure(tmp_path / "whole", PARTS)
        return Runs.open(tmp_path / name), rows(tmp_path / "whole")

    return make


@pytest.mark.slow
def test_chunks_of_many_runs_give_the_rows_of_one(collection, monkeypatch):
    monkeypatch.setattr(subject, "CHUNK", 2)
    runs, whole = collection("many", 2, 12)
    counts = []
    ledger = measure_many(list(runs), runs.path, PARTS, workers=2, begin=counts.append)
    names = ["run-0:0-4", "run-0:8-12", "run-1:0-4", "run-1:8-12"]
    assert ledger.names(State.FINISHED) == names
    assert counts == [4]
    for run in runs:
        pd.testing.assert_frame_equal(rows(run.path), whole, check_exact=True)
        assert len(list((run.path / "rows").glob("*.parquet"))) == 1, "compacted when its last piece is over"


def test_a_run_that_is_being_measured_is_refused(collection):
    runs, _ = collection("held", 1, 4)
    with held(runs["run-0"].path, "measuring", "measured"), pytest.raises(RunHeld):
        measure_many(list(runs), runs.path, PARTS)


@pytest.mark.slow
def test_every_twentieth_worker_killed_loses_and_doubles_nothing(collection, monkeypatch):
    monkeypatch.setattr(subject, "measure_checkpoints", measure_or_die)
    monkeypatch.setattr(subject, "CHUNK", 3)
    runs, whole = collection("killed", 21, 20)
    ledger = measure_many(list(runs), runs.path, PARTS, workers=2)
    tasks = 2 * len(runs)
    killed = [name for name, entry in ledger.entries.items() if entry.attempts > 1]
    assert len(ledger.entries) == tasks
    assert len(killed) >= tasks // 20
    reason = "the worker was killed by SIGKILL (by hand, or because memory ran out)"
    for name, entry in ledger.entries.items():
        doomed = name.startswith("run-20:")
        assert entry.state is (State.FAILED if doomed else State.FINISHED)
        assert entry.reasons == [reason] * (entry.attempts - (not doomed))
        assert entry.attempts <= 3
    for run in runs:
        if run.name != "run-20":
            pd.testing.assert_frame_equal(rows(run.path), whole, check_exact=True)
            stored = sum(read_table(path).num_rows for path in (run.path / "rows").glob("*.parquet"))
            assert stored == len(whole), "and no row is stored twice"
    kept = rows(runs["run-20"].path)
    assert 0 < len(kept) < len(whole), "what a failed task had finished is kept"
    monkeypatch.undo()
    measure_many(list(runs), runs.path, PARTS, workers=2)
    pd.testing.assert_frame_equal(rows(runs["run-20"].path), whole, check_exact=True)


def test_a_pass_at_a_time_gives_the_rows_of_the_whole(collection, monkeypatch):
    """The tasks that Ray is given, done in this process."""
    runs, whole = collection("passes", 1, 4)
    (run,) = runs
    names = []
    for task in subject._tasks(subject._request(run, PARTS, None, None), runs.path, "ray"):
        names.append(task.name)
        task.work(*task.arguments, tell=lambda **facts: None)
    assert names[:2] == ["run-0:0:weights", "run-0:0:heldout"]
    assert len(set(names)) == len(names) == 2 * len(run.checkpoints)
    pd.testing.assert_frame_equal(rows(run.path), whole, check_exact=True)
    files = len(list((run.path / "rows").glob("*.parquet")))
    assert files == len(names), "a file a pass"
    measure_many([run], runs.path, PARTS)
    pd.testing.assert_frame_equal(rows(run.path), whole, check_exact=True)
    assert len(list((run.path / "rows").glob("*.parquet"))) == 1


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # Ray's own
def test_ray_workers_killed_while_measuring_lose_and_double_nothing(collection, monkeypatch):
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'ontogeny[ray]'")
    monkeypatch.setattr(subject, "measure_checkpoints", measure_or_die_once)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))  # where Ray's workers find this work
    runs, whole = collection("far", 1, 12)
    (run,) = runs
    ledger = measure_many([run], runs.path, PARTS, workers=2, engine="ray")
    assert ledger.names(State.FINISHED) == list(ledger.entries), ledger.entries
    again = {name for name, entry in ledger.entries.items() if entry.attempts > 1}
    assert again == {"run-0:8:weights", "run-0:8:heldout"}
    assert all("WorkerCrashedError" in ledger[name].reasons[0] for name in again)
    pd.testing.assert_frame_equal(rows(run.path), whole, check_exact=True)
    assert sum(read_table(path).num_rows for path in (run.path / "rows").glob("*.parquet")) == len(whole)
