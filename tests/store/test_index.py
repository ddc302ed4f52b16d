"""The summary of a collection is what the runs say, whether or not an index lies beside them."""

import math
import os
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

from ontogeny.errors import DamageWarning
from ontogeny.store import index
from ontogeny.store.collection import Runs
from ontogeny.store.compaction import compact_journal
from ontogeny.store.journal import JournalWriter
from ontogeny.store.rows import read_table, write_table
from ontogeny.store.run import Run

FOUND = {"part": "induction", "component": "", "stimulus_name": "repeated", "verdict": "transition"}


def attempt(run: Run, number: int, losses: dict[int, float], heldout: dict[int, float], outcome="finished"):
    path = run.path / "journal" / f"{number:03d}.journal"
    with JournalWriter(path) as journal:
        journal.note("begin", step=min(losses) - 1)
        for step, loss in losses.items():
            journal.append(step, {"loss": loss})
            if step in heldout:
                journal.append(step, {"heldout_loss": heldout[step]})
        if outcome:
            journal.note("end", outcome=outcome)
    compact_journal(path)


@pytest.fixture
def home(tmp_path) -> Path:
    for seed, rate in enumerate((0.1, 0.1, 0.2)):
        recipe = {"title": f"t{seed}", "optimizer": {"lr": rate, "betas": [0.9, 0.98]}, "model": {"width": 4}}
        recipe["training"] = {"seed": seed, "steps": 3}
        run = Run.create(tmp_path / f"seed-{seed}", {"recipe": recipe, "title": f"t{seed}"})
        attempt(run, 0, {1: 3.0, 2: 2.0, 3: 1.0 + seed}, {1: 5.0, 2: 4.0 - seed, 3: math.nan})
    found = [
        {**FOUND, "step": 900.0, "size": 0.2},
        {**FOUND, "step": 950.0, "size": -0.7},
        {**FOUND, "step": 970.0, "size": None},
        {**FOUND, "part": "sinks", "step": 10.0, "size": 9.0, "verdict": "gradual"},
        {**FOUND, "part": "rank", "stimulus_name": "", "component": "low", "step": 30.0, "size": 9.0},
    ]
    write_table(tmp_path / "seed-1" / "transitions.parquet", pa.Table.from_pylist(found))
    Run.create(tmp_path / "foreign", {"title": "a loop"})
    return tmp_path


@pytest.fixture
def lines_read(monkeypatch) -> list[str]:
    """Names of the runs that were read rather than found in the index."""
    names, before = [], index.line_of
    monkeypatch.setattr(index, "line_of", lambda run: names.append(run.name) or before(run))
    return names


def test_one_row_a_run(home):
    found = Runs.open(home).summary().set_index("run")
    assert found.index.tolist() == ["foreign", "seed-0", "seed-1", "seed-2"]
    tail = ["seed", "steps", "loss", "heldout_loss", "outcome", "grade"]
    formed = ["formed/induction@repeated", "formed/rank:low"]
    settings = ["optimizer.lr", "optimizer.betas", "model.width", "training.steps"]
    assert found.columns.tolist() == ["title", *settings, *tail, *formed], "a foreign run has no settings"
    assert found.loc["seed-1", "title"] == "t1"
    assert found.loc["seed-1", [*tail, *formed]].tolist() == [1, 3, 2.0, 3.0, "finished", "S", 950.0, 30.0]
    assert found.loc["seed-2", ["optimizer.lr", "loss", "heldout_loss"]].tolist() == [0.2, 3.0, 2.0]
    assert found.loc["seed-0", formed].isna().all()
    assert found.loc["foreign", ["seed", "steps", "loss", "heldout_loss", "optimizer.lr"]].isna().all()
    assert found.loc["foreign", ["title", "outcome", "grade"]].tolist() == ["a loop", "open", "S"]


def test_settings_that_all_runs_share_are_no_columns(home, tmp_path):
    (home / "foreign").rename(tmp_path.parent / f"{tmp_path.name}-foreign")
    columns = Runs.open(home).summary().columns
    assert columns[:4].tolist() == ["run", "title", "optimizer.lr", "seed"]


def test_the_index_gives_the_same_table_and_spares_the_reading(home, lines_read):
    first = Runs.open(home).summary()
    assert len(lines_read) == 4
    second = Runs.open(home).summary()
    assert len(lines_read) == 4
    pd.testing.assert_frame_equal(first, second)
    (home / "index.parquet").unlink()
    pd.testing.assert_frame_equal(Runs.open(home).summary(), first)
    assert len(lines_read) == 8


def test_what_changed_is_read_again_and_nothing_else(home, lines_read):
    Runs.open(home).summary()
    lines_read.clear()
    run = Run.open(home / "seed-0")
    run.update_identity(grade={"letter": "E", "reason": ""})
    attempt(Run.open(home / "seed-2"), 1, {3: 0.5, 4: 0.25}, {3: 0.125}, outcome="")
    write_table(
        home / "seed-1" / "transitions.parquet", pa.Table.from_pylist([{**FOUND, "step": 7.0, "size": 1.0}])
    )
    found = Runs.open(home).summary().set_index("run")
    assert lines_read == ["seed-0", "seed-1", "seed-2"]
    assert found.loc["seed-0", "grade"] == "E"
    assert found.loc["seed-1", "formed/induction@repeated"] == 7.0
    assert found.loc["seed-2", ["steps", "loss", "heldout_loss", "outcome"]].tolist() == [
        4,
        0.25,
        0.125,
        "finished",
    ]
    lines_read.clear()
    for file in (home / "foreign").iterdir():
        if file.is_file():
            file.unlink()
    assert "foreign" not in set(Runs.open(home).summary()["run"])
    assert lines_read == []
    assert "foreign" not in read_table(home / "index.parquet")["run"].to_pylist()


def test_a_collection_that_was_opened_before_a_change_does_not_spoil_the_index(home):
    early = Runs.open(home)
    Run.open(home / "seed-0").update_identity(grade={"letter": "E", "reason": ""})
    for runs in (early, Runs.open(home)):
        assert runs.summary().set_index("run").loc["seed-0", "grade"] == "E"


@pytest.mark.parametrize("kind", ["flipped", "empty", "another table", "old version"])
def test_a_bad_index_is_made_anew(home, lines_read, monkeypatch, kind):
    first = Runs.open(home).summary()
    path = home / "index.parquet"
    if kind == "flipped":
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
    elif kind == "empty":
        path.write_bytes(b"")
    elif kind == "another table":
        write_table(path, pa.table({"run": ["seed-0"]}))
    else:
        monkeypatch.setattr(index, "VERSION", 0)
    lines_read.clear()
    pd.testing.assert_frame_equal(Runs.open(home).summary(), first)
    assert len(lines_read) == 4


@pytest.mark.filterwarnings("ignore::ontogeny.errors.DamageWarning")
def test_damage_is_told_every_time(home):
    path = home / "seed-1" / "transitions.parquet"
    data = bytearray(path.read_bytes())
    data[-20] ^= 1
    path.write_bytes(data)
    for _ in range(2):
        with pytest.warns(DamageWarning, match=r"seed-1.*transitions\.parquet"):
            found = Runs.open(home).summary()
        assert found.set_index("run").loc["seed-1", "loss"] == 2.0


def test_a_collection_that_cannot_be_written_is_read(home, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "no")

    monkeypatch.setattr("ontogeny.store.files.os.open", refuse)
    found = index.lines_of(home, Runs.open(home))
    monkeypatch.undo()
    assert len(found) == 4
    assert not (home / "index.parquet").exists()
    assert os.listdir(home).count("seed-0") == 1
