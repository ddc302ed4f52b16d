"""Many runs from the command line."""

from pathlib import Path

import pytest

from ontogeny.cli.sweep import Board
from ontogeny.store.collection import Runs
from ontogeny.store.run import Run
from ontogeny.sweep import State

TINY = """
title = "tiny"
[model]
width = 16
layers = 1
heads = 2
mlp = "none"
[objective]
name = "copied_segments"
vocabulary = 12
context = 16
batch = 4
shortest = 3
longest = 6
[training]
steps = 8
[recording]
every = 4
evaluate = 0
"""


@pytest.fixture(autouse=True)
def recipe(tmp_path):
    (tmp_path / "tiny.toml").write_text(TINY)


@pytest.mark.slow
def test_seeds_are_runs_of_one_folder(ontogeny):
    command = (
        "train",
        "tiny.toml",
        "--seeds",
        "0:2",
        "--no-grade",
        "--workers",
        "2",
        "--set",
        "training.steps=4",
    )
    status, out, _ = ontogeny(*command)
    assert status == 0
    assert "runs/tiny: 2 runs finished, 0 failed" in out
    found = Runs.open("runs/tiny")
    assert [(run.name, run.identity["recipe"]["training"]["seed"]) for run in found] == [
        ("seed-0", 0),
        ("seed-1", 1),
    ]
    assert found.summary()["steps"].tolist() == [4, 4]


@pytest.mark.slow
def test_a_grid_is_trained_and_measured_and_a_failure_is_told(ontogeny):
    Path("rates.toml").write_text('recipe = "tiny.toml"\n[grid]\noptimizer.weight_decay = [0.0, 1e30]\n')
    command = ("sweep", "rates.toml", "--no-grade", "--measure", "--out", "out")
    command = (*command, "--set", "training.on_nonfinite=stop")
    status, out, _ = ontogeny(*command)
    assert status == 1
    assert "weight_decay=1e+30: NonfiniteLoss" in out
    assert "out: 1 runs finished, 1 failed; see sweep.json" in out
    assert "stable_rank" in set(Run.open("out/weight_decay=0.0").table()["part"])
    status, out, _ = ontogeny(*command)
    assert (status, Run.open("out/weight_decay=1e+30").attempts) == (1, 1), "it is not trained again"
    assert "weight_decay=1e+30: NonfiniteLoss" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("train", "tiny.toml", "--seeds", "a:b"), "seeds that cannot be read"),
        (("train", "tiny.toml", "--seeds", "0:2", "--set", "optimizer.lrr=1"), "did you mean 'optimizer.lr'"),
        (("train", "tiny.toml", "--seeds", "0:2", "--engine", "slurm"), "no engine is called 'slurm'"),
        (("sweep", "nowhere.toml"), "there is no grid nowhere.toml"),
        (("sweep", "wrong.toml"), "did you mean 'optimizer.lr'"),
    ],
)
def test_what_is_wrong_is_said_before_anything_starts(ontogeny, words, said):
    Path("wrong.toml").write_text('recipe = "tiny.toml"\n[grid]\noptimizer.lrr = [0.01]\n')
    status, _, complaint = ontogeny(*words)
    assert status == 2
    assert said in complaint
    assert not list(Path().glob("runs/*/*/run.json"))


def test_the_board_tells_who_is_at_what():
    board = Board("sweep", 3)
    board.hear("a", State.RUNNING, {})
    board.hear("a", State.RUNNING, {"step": 3, "steps": 8, "loss": 2.5})
    board.hear("b", State.FINISHED, {})
    table = board.table()
    assert [list(column.cells) for column in table.columns] == [["a"], ["running"], ["3 of 8"], ["2.500"]]
    assert str(table.caption).startswith("1 of 3 finished, 0 failed")
