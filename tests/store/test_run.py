"""A run as it is read, whatever state it is in."""

import math
import os
import subprocess
import sys

import numpy as np
import pytest
import torch

from ontogeny.errors import Damaged, NotARun, RunExists, RunHeld, UnknownName
from ontogeny.store.checkpoint import write_checkpoint
from ontogeny.store.compaction import compact_journal
from ontogeny.store.journal import JournalWriter
from ontogeny.store.rows import write_rows
from ontogeny.store.run import Run


@pytest.fixture
def run(tmp_path) -> Run:
    return Run.create(tmp_path / "run", {"title": "a test"})


def attempt(run: Run, begin: int | None, records: list[tuple[int, dict]], outcome: str | None = None) -> None:
    """Write one attempt's journal; `begin` is the step at which it took up the run."""
    with JournalWriter(run.path / "journal" / f"{run.attempts:03d}.journal") as journal:
        if begin is not None:
            journal.note("begin", step=begin)
        for step, values in records:
            journal.append(step, values)
        if outcome:
            journal.note("end", step=records[-1][0], outcome=outcome)


def losses(steps, of: float) -> list[tuple[int, dict]]:
    return [(step, {"loss": of + step}) for step in steps]


def test_what_was_created_is_opened(run):
    again = Run.open(run.path)
    assert again.identity == run.identity
    assert len(again.id) == 8
    assert (again.name, again.grade, again.outcome, again.attempts) == ("run", "S", "open", 0)
    assert again.checkpoints == []
    assert again.transitions.empty
    assert again.table().empty
    assert again.telemetry().columns.tolist() == ["step", "attempt", "seconds"]
    again.update_identity(grade={"letter": "E"})
    assert Run.open(run.path).grade == "E"
    with pytest.raises(RunExists):
        Run.create(run.path, {})


def test_what_is_no_run_says_so(tmp_path, run):
    for path, said in ((tmp_path, "no run.json"), (tmp_path / "nowhere", "no such folder")):
        with pytest.raises(NotARun, match=said):
            Run.open(path)
    manifest = run.path / "run.json"
    manifest.write_text(manifest.read_text().replace("a test", "no test"))
    with pytest.raises(Damaged, match=r"run\.json"):
        Run.open(run.path)


def test_one_row_a_record_that_carries_what_is_asked_for(run):
    attempt(
        run,
        0,
        [
            (0, {"heldout_loss": 4.0}),
            (1, {"loss": 3.0, "grad/a": 1.0}),
            (2, {"loss": 2.0}),
            (2, {"heldout_loss": 3.5}),
        ],
    )
    frame = run.telemetry("loss")
    assert frame.columns.tolist() == ["step", "attempt", "seconds", "loss"]
    assert frame["step"].tolist() == [1, 2]
    assert frame["loss"].tolist() == [3.0, 2.0]
    both = run.telemetry("heldout_loss", "loss")
    assert both["step"].tolist() == [0, 1, 2, 2]
    whole = run.telemetry()
    assert set(whole.columns) == {"step", "attempt", "seconds", "loss", "heldout_loss"}, (
        "matrices are left out"
    )
    assert run.telemetry("grad/a")["grad/a"].tolist() == [1.0]


def test_absent_and_recorded_nan_are_told_apart_by_their_rows(run):
    attempt(
        run,
        0,
        [(1, {"loss": math.nan}), (2, {"other": 1.0}), (3, {"loss": math.inf}), (4, {"loss": -math.inf})],
    )
    frame = run.telemetry("loss")
    assert frame["step"].tolist() == [1, 3, 4]
    assert np.isnan(frame["loss"][0])
    assert frame["loss"].tolist()[1:] == [math.inf, -math.inf]


def test_metrics_may_bear_the_names_of_columns(run):
    attempt(run, 0, [(1, {"attempt": 7.0, "seconds": 8.0, "loss": 1.0})])
    frame = run.telemetry("attempt", "seconds")
    assert frame[["attempt", "metric:attempt", "metric:seconds"]].values.tolist() == [[0, 7.0, 8.0]]


def test_unknown_metrics_are_refused_with_the_nearest(run):
    attempt(run, 0, losses([1], 0))
    with pytest.raises(UnknownName, match="did you mean 'loss'"):
        run.telemetry("los")


@pytest.fixture(params=[False, True], ids=["framed", "compacted"])
def resumed(run, request) -> Run:
    """Attempt 0 reached step 10, attempt 1 took up at 6 and reached 8, attempt 2 took up at 7."""
    attempt(run, 0, [*losses(range(1, 11), 0.0), (9, {"rare": 9.0}), (6, {"rare": 6.0}), (3, {"rare": 3.0})])
    attempt(run, 6, losses([7, 8], 100.0))
    attempt(run, 7, [*losses([8, 9, 10, 11], 200.0), (11, {"rare": 11.0})])
    if request.param:
        for journal in run.journals:
            compact_journal(journal)
    return Run.open(run.path)


def test_the_newest_attempt_is_shown_where_attempts_overlap(resumed):
    frame = resumed.telemetry("loss")
    assert frame["step"].tolist() == list(range(1, 12))
    assert frame["attempt"].tolist() == [0] * 6 + [1] + [2] * 4
    assert frame["loss"].tolist() == [1, 2, 3, 4, 5, 6, 107, 208, 209, 210, 211]


def test_overlaps_are_resolved_alike_for_all_metrics(resumed):
    rare = resumed.telemetry("rare")
    assert rare[["step", "attempt"]].values.tolist() == [[6, 0], [3, 0], [11, 2]], (
        "step 9 of attempt 0 is gone"
    )
    both = resumed.telemetry("loss", "rare")
    assert set(map(tuple, rare[["step", "attempt"]].values)) <= set(
        map(tuple, both[["step", "attempt"]].values)
    )


def test_everything_is_there_if_asked_for(resumed):
    frame = resumed.telemetry("loss", overlaps=True)
    assert len(frame) == 16
    assert frame["step"].tolist()[:11] == [*range(1, 11), 7]
    assert len(resumed.telemetry("rare", overlaps=True)) == 4


def test_the_step_of_taking_up_is_said_by_whoever_said_it_last(run):
    attempt(run, 0, [*losses([1, 2, 3], 0.0), (2, {"digest": 5})])
    attempt(run, 2, [(2, {"digest": 6}), *losses([3], 100.0)])
    assert run.telemetry("loss")["loss"].tolist() == [1, 2, 103]
    assert run.telemetry("digest")["digest"].tolist() == [6]


def test_an_attempt_that_recorded_nothing_takes_nothing_away(run):
    attempt(run, 0, losses([1, 2, 3], 0.0))
    attempt(run, 1, [])
    assert run.telemetry("loss")["step"].tolist() == [1, 2, 3]
    attempt(run, None, losses([2], 100.0))
    assert run.telemetry("loss")["loss"].tolist() == [1, 102], "without a note its first record tells"


def test_the_outcome_is_that_of_the_last_attempt(run):
    attempt(run, 0, losses([1], 0), "interrupted")
    assert run.outcome == "interrupted"
    attempt(run, 1, losses([2], 0), "finished")
    assert run.outcome == "finished"
    assert [note.kind for note in run.notes] == ["begin", "end", "begin", "end"]


KEY = {
    "run": "x",
    "attempt": 0,
    "checkpoint": "c",
    "component": "",
    "version": 1,
    "parameters": "p",
    "status": "ok",
}


def measured(run: Run, part: str, **more) -> None:
    rows = [
        {**KEY, "step": step, "part": part, "layer": layer, "head": head, "value": step + layer + head / 10,
         "stimulus": "s", "stimulus_name": "repeated_tokens", **more}
        for step in (0, 8) for layer in (0, 1) for head in range(3)
    ]  # fmt: skip
    write_rows(run.path, f"{part}-{len(more)}", rows, {})


def test_rows_are_a_labelled_array_of_step_layer_head(run):
    measured(run, "induction")
    found = run.rows("induction")
    assert found.dims == ("step", "layer", "head")
    assert found.shape == (2, 2, 3)
    assert float(found.sel(step=8, layer=1, head=2)) == 9.2
    assert found.name == "induction"
    assert run.table("induction")["step"].tolist() == [0] * 6 + [8] * 6
    with pytest.raises(UnknownName, match="did you mean 'induction'"):
        run.rows("inductoin")
    with pytest.raises(UnknownName, match="component"):
        run.rows("induction", "biased")


def test_damage_is_listed_by_file(run):
    attempt(run, 0, losses(range(1, 200), 0.0))
    measured(run, "induction")
    folder = run.path / "checkpoints" / "000001"
    write_checkpoint(folder, tensors={"model": {"w": torch.ones(50)}}, documents={}, step=1, metadata={})
    assert run.verify() == []
    for path in (run.path / "rows" / "induction-0.parquet", folder / "model.safetensors", run.journals[0]):
        raw = bytearray(path.read_bytes())
        raw[len(raw) // 2] ^= 4
        path.write_bytes(raw)
    files = {damage.file for damage in Run.open(run.path).verify()}
    assert files == {
        "rows/induction-0.parquet",
        "checkpoints/000001/model.safetensors",
        "journal/000.journal",
    }


def test_a_held_run_names_its_holder_and_is_free_when_it_dies(run):
    script = (
        "import sys; from ontogeny.store.run import Run\n"
        "with Run.open(sys.argv[1]).held():\n    print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, run.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(RunHeld, match=str(holder.pid)), run.held():
            pass
        holder.kill()
    with run.held():
        assert str(os.getpid()) in (run.path / ".writer").read_text()


def test_bytes_are_counted_by_what_they_hold(run):
    assert run.disk_bytes() == dict.fromkeys(("checkpoints", "journal", "tape", "rows", "arrays", "fits"), 0)
    measured(run, "induction")
    assert run.disk_bytes()["rows"] == sum(path.stat().st_size for path in (run.path / "rows").iterdir())


def test_large_integers_survive_the_joining_of_attempts(tmp_path):
    """One attempt's digests may all fit 63 bits, another's not: joined as floats they would lose digits."""
    run = Run.create(tmp_path / "run", {})
    values = [5, (1 << 63) + 3]
    for attempt, value in enumerate(values):
        with JournalWriter(run.path / "journal" / f"{attempt:03d}.journal") as journal:
            journal.note("begin", step=attempt)
            journal.append(attempt, {"digest": value})
    assert [int(v) for v in run.telemetry("digest")["digest"]] == values
