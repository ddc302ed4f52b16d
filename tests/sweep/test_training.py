"""Sweeps of real runs: continued after every kind of interruption, the bits of runs made one by one."""

import os
import signal
import subprocess
import sys
import time

import pytest

from ontogeny.errors import RunExists, RunHeld
from ontogeny.record.train import Stopped, train
from ontogeny.store.collection import Runs
from ontogeny.store.documents import read_json, write_json
from ontogeny.store.run import Run
from ontogeny.sweep import State, sweep
from ontogeny.sweep.training import put_aside, require_same, train_or_resume


def silent(**facts):
    """A worker's `tell` that nobody hears."""


def digests(run: Run) -> list[int]:
    return run.telemetry("model_digest").drop_duplicates("step")["model_digest"].tolist()


def test_two_seeds_on_two_workers_are_the_runs_of_one_process(tmp_path, plan):
    heard = []
    ledger = sweep(
        plan(2), tmp_path / "swept", workers=2, grade=False, hear=lambda *words: heard.append(words)
    )
    assert ledger.names(State.FINISHED) == ["seed-0", "seed-1"]
    for one in plan(2):
        alone = train(one.recipe, tmp_path / "alone" / one.name, grade=False)
        assert digests(Run.open(tmp_path / "swept" / one.name)) == digests(alone)
    told = read_json(tmp_path / "swept" / "sweep.json")
    assert (told["engine"], told["workers"]) == ("local", 2)
    assert told["tasks"]["seed-1"] == {"state": "finished", "attempts": 1, "reasons": []}
    before = [Run.open(tmp_path / "swept" / one.name).identity for one in plan(2)]
    again = sweep(plan(2), tmp_path / "swept", workers=2, grade=False)
    assert again.names(State.FINISHED) == ["seed-0", "seed-1"]
    assert [again[name].attempts for name in ("seed-0", "seed-1")] == [1, 1], "finished runs are left alone"
    assert before == [Run.open(tmp_path / "swept" / one.name).identity for one in plan(2)]


def test_a_stopped_run_is_resumed_and_earns_its_grade(tmp_path, plan):
    one = plan(1)[0]
    stop = lambda step, found: os.kill(os.getpid(), signal.SIGTERM) if step == 5 else None
    with pytest.raises(Stopped):
        train(one.recipe, tmp_path / "run", grade=False, progress=stop)
    train_or_resume(str(tmp_path / "run"), one.recipe.document(), True, silent)
    run = Run.open(tmp_path / "run")
    assert (run.outcome, run.attempts, run.grade) == ("finished", 2, "E")
    assert digests(run) == digests(train(one.recipe, tmp_path / "whole", grade=False))
    train_or_resume(str(tmp_path / "run"), one.recipe.document(), True, silent)
    assert Run.open(tmp_path / "run").attempts == 2


def test_a_beginning_without_a_checkpoint_is_moved_aside(tmp_path, plan):
    one = plan(1)[0]
    for trial in range(2):
        broken = Run.create(
            tmp_path / "seed-0", {"recipe": one.recipe.document(), "recipe_hash": one.recipe.hash}
        )
        if trial:
            put_aside(broken)
        else:
            train_or_resume(str(broken.path), one.recipe.document(), False, silent)
            assert Run.open(tmp_path / "seed-0").outcome == "finished"
            (tmp_path / "seed-0").rename(tmp_path / "finished")
        assert Run.open(tmp_path / "aside" / f"seed-0-{trial}").id == broken.id, "nothing is deleted"
    assert [run.name for run in Runs.open(tmp_path)] == ["finished"], "it is no run of the collection"


def test_a_beginning_that_is_being_written_is_not_moved(tmp_path, plan):
    one = plan(1)[0]
    run = Run.create(tmp_path / "seed-0", {"recipe": one.recipe.document(), "recipe_hash": one.recipe.hash})
    with run.held(), pytest.raises(RunHeld):
        put_aside(run)


def test_a_folder_with_another_run_is_refused_before_anything_starts(tmp_path, plan):
    first, second = plan(2)
    others = (
        {"recipe_hash": first.recipe.hash, "title": "mine"},
        {"recipe_hash": second.recipe.hash, "parent": {"run": "0", "step": 3}},
        {"recipe_hash": second.recipe.hash, "interventions": [{"spec": "dropout(rate=0.1)"}]},
    )
    for number, identity in enumerate(others):
        Run.create(tmp_path / str(number) / "seed-1", identity)
        with pytest.raises(RunExists, match="seed-1 holds another run"):
            sweep(plan(2), tmp_path / str(number))
        assert not (tmp_path / str(number) / "seed-0").exists()
    require_same(tmp_path / "nowhere", second.recipe)


SCRIPT = """
import sys
from ontogeny.sweep import Planned, sweep
from ontogeny.store.documents import read_json, write_json
from ontogeny.record.recipe import Recipe

if __name__ == "__main__":
    plan = [Planned(name, Recipe.from_document(recipe)) for name, recipe in read_json(sys.argv[1]).items()]
    sweep(plan, sys.argv[2], workers=2, grade=False)
"""


def started(tmp_path, runs) -> subprocess.Popen:
    """A sweep in a process of its own, once both workers have committed a checkpoint beyond the first."""
    (tmp_path / "script.py").write_text(SCRIPT)
    write_json(tmp_path / "plan.json", {one.name: one.recipe.document() for one in runs})
    command = [
        sys.executable,
        str(tmp_path / "script.py"),
        str(tmp_path / "plan.json"),
        str(tmp_path / "swept"),
    ]
    child = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while len(list((tmp_path / "swept").glob("seed-*/checkpoints/000004"))) < 2:
        assert child.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return child


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_sweep_goes_on(tmp_path, plan, number, interruptible):
    """Ctrl-C, and a sweep that dies without a word: its workers stop by themselves."""
    runs = plan(3, steps=400)
    child = started(tmp_path, runs)
    child.send_signal(number)
    child.wait(timeout=60)
    if number == signal.SIGINT:
        told = read_json(tmp_path / "swept" / "sweep.json")["tasks"]
        assert {task["state"] for task in told.values()} == {"stopped"}
        for name in ("seed-0", "seed-1"):
            assert Run.open(tmp_path / "swept" / name).outcome == "interrupted"
    ledger = sweep(runs, tmp_path / "swept", workers=2, grade=False)
    assert ledger.names(State.FINISHED) == ["seed-0", "seed-1", "seed-2"]
    for one in runs:
        run = Run.open(tmp_path / "swept" / one.name)
        assert run.telemetry("loss")["step"].tolist() == list(range(1, 401))
        overlaps = run.telemetry("loss", overlaps=True)
        assert len(overlaps) == 400, "no step is taken twice"
        assert run.attempts == (1 if one.name == "seed-2" else 2)
