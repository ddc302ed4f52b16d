"""Many runs, read with a run axis."""

import numpy as np
import pytest

from ontogeny.errors import NotARun, UnknownName
from ontogeny.store.collection import Runs, open_runs
from ontogeny.store.journal import JournalWriter
from ontogeny.store.rows import write_rows
from ontogeny.store.run import Run

KEY = {"attempt": 0, "checkpoint": "c", "part": "induction", "component": "", "version": 1, "parameters": "p"}
KEY |= {"stimulus": "s", "stimulus_name": "x", "status": "ok"}


@pytest.fixture
def home(tmp_path):
    """Runs `a` and `b` measured at different steps, `c` recorded only; a file and a folder beside them."""
    for name, steps in (("a", (0, 10)), ("b", (0, 20)), ("c", ())):
        run = Run.create(tmp_path / "runs" / name, {})
        with JournalWriter(run.path / "journal" / "000.journal") as journal:
            journal.append(1, {"loss": float(ord(name))})
            if name == "b":
                journal.append(1, {"extra": 7.0})
        key = {**KEY, "run": run.id}
        rows = [
            {**key, "step": step, "layer": layer, "head": head, "value": ord(name) + step + layer + head / 10}
            for step in steps
            for layer in (0, 1)
            for head in (0, 1)
        ]
        if rows:
            write_rows(run.path, "rows", rows, {})
    (tmp_path / "runs" / "notes").mkdir()
    (tmp_path / "runs" / "sweep.toml").write_text("")
    return tmp_path / "runs"


def test_a_folder_of_runs_is_read_by_name(home):
    runs = Runs.open(home)
    assert len(runs) == 3
    assert [run.name for run in runs] == ["a", "b", "c"]
    assert runs["b"].path == home / "b"
    with pytest.raises(UnknownName, match="a, b, c"):
        runs["z"]


def test_telemetry_has_a_run_column(home):
    frame = Runs.open(home).telemetry("loss")
    assert frame[["run", "loss"]].values.tolist() == [["a", 97], ["b", 98], ["c", 99]]
    assert frame.columns[0] == "run"


def test_a_metric_that_some_runs_lack_is_that_of_the_others(home):
    runs = Runs.open(home)
    assert runs.telemetry("extra")["run"].tolist() == ["b"]
    both = runs.telemetry("extra", "loss")
    assert both["run"].tolist() == ["a", "b", "b", "c"]
    assert both["extra"].isna().sum() == 3
    with pytest.raises(UnknownName, match="did you mean 'extra'"):
        runs.telemetry("extr")


def test_rows_have_a_run_dimension_and_gaps_are_nan(home):
    found = Runs.open(home).rows("induction")
    assert found.dims == ("run", "step", "layer", "head")
    assert found.coords["run"].values.tolist() == ["a", "b"], "c was not measured"
    assert found.coords["step"].values.tolist() == [0, 10, 20]
    assert float(found.sel(run="b", step=20, layer=1, head=1)) == pytest.approx(98 + 20 + 1.1)
    assert np.isnan(found.sel(run="a", step=20)).all()
    with pytest.raises(UnknownName, match="did you mean 'induction'"):
        Runs.open(home).rows("inductoin")


def test_tables_are_stacked_under_their_names(home):
    assert Runs.open(home).table("induction").groupby("run").size().to_dict() == {"a": 8, "b": 8}
    assert set(Runs.open(home).table()["run"]) == {"a", "b"}
    assert Runs.open(home).transitions.empty


def test_one_or_many_are_opened_alike(home, tmp_path):
    assert [run.name for run in open_runs(home / "a")] == ["a"]
    assert [run.name for run in open_runs(home)] == ["a", "b", "c"]
    for path, said in ((home / "notes", "no folder in it"), (tmp_path / "nowhere", "no such folder")):
        with pytest.raises(NotARun, match=said):
            Runs.open(path)
