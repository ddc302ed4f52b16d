"""Measuring a series: everything once, nothing twice, whatever happened in between."""

from dataclasses import replace
from functools import partial

import pandas as pd
import pytest
import torch

from ontogeny.catalogue import comparison, instrument, part, parts
from ontogeny.catalogue.part import _PARTS
from ontogeny.errors import NotARun, UnknownName
from ontogeny.measure import explain, measure
from ontogeny.numerics.similarity import debiased_cka
from ontogeny.store.checkpoint import open_checkpoint, write_checkpoint
from ontogeny.store.run import Run
from ontogeny.testing import temporary_catalogue
from ontogeny.vocabulary import Pair, Status

STEPS = [0, 1, 2, 4, 6]
FEW = ("induction", "stable_rank")
#: Parts that read a number from any model that is whole.
PLAIN = ("attention_entropy", "heldout_loss", "induction", "residual_norm", "sink_mass", "stable_rank")


@pytest.fixture
def own_catalogue():
    with temporary_catalogue():
        yield


def files(home) -> dict:
    return {
        path: path.stat().st_mtime_ns for folder in ("rows", "arrays") for path in (home / folder).iterdir()
    }


def test_every_checkpoint_is_measured_and_none_again(run_of, rows):
    home = run_of("run")
    begun, done = [], []
    assert measure(home, begin=begun.append, done=done.append) == 5
    assert begun == [STEPS]
    assert done == STEPS
    frame = rows(home)
    assert Status.FAILED not in set(frame["status"])
    assert set(frame[frame["part"].isin(PLAIN)]["status"]) == {Status.OK}
    assert set(frame["run"]) == {Run.open(home).id}
    summaries = frame["part"].isin(set(parts("summary")))
    hashes = {checkpoint.hash for checkpoint in Run.open(home).checkpoints}
    assert set(frame[~summaries]["checkpoint"]) == hashes
    assert set(frame[summaries]["checkpoint"]) == {""}
    per_part = frame[~summaries].groupby("part")["step"].agg(lambda s: sorted(set(s)))
    assert all(steps == STEPS for steps in per_part)
    assert len(list((home / "rows").iterdir())) == len(list((home / "arrays").iterdir())) == 1
    before = files(home)
    assert measure(home, begin=begun.append) == 0
    assert begun[1] == []
    assert files(home) == before
    assert not Run.open(home).verify()


def test_a_part_asked_for_later_is_all_that_is_measured(run_of, rows, monkeypatch):
    home, whole = run_of("run"), run_of("whole")
    assert measure(home, ["induction"]) == 5
    first = rows(home)
    assert set(first["part"]) == {"induction"}
    called = []
    made = part("instrument", "induction")
    with temporary_catalogue():
        _PARTS["instrument"]["induction"] = replace(made, make=lambda *needs: called.append(needs))
        assert measure(home, FEW) == 5
    assert not called
    pd.testing.assert_frame_equal(rows(home, part="induction"), first)
    measure(whole, FEW)
    pd.testing.assert_frame_equal(rows(home), rows(whole))


@pytest.mark.usefixtures("own_catalogue")
def test_a_part_declared_later_is_measured_by_default(run_of, rows):
    home = run_of("run")
    measure(home)
    before = rows(home)

    @instrument(unit="norm", source="a test", stimuli=("repeated_tokens",))
    def proof_late(residual_norms):
        """One more. Known: c -> c.

        Known: vectors of length c -> c.
        Misleads: no.
        """
        return residual_norms.total / residual_norms.n

    assert measure(home) == 5
    assert len(rows(home, part="proof_late")) == 10
    after = rows(home)
    pd.testing.assert_frame_equal(after[after["part"] != "proof_late"].reset_index(drop=True), before)


@pytest.mark.usefixtures("own_catalogue")
def test_a_new_version_or_parameter_or_stimulus_is_a_new_key(run_of, rows):
    home = run_of("run")
    measure(home, FEW)
    sizes = [len(rows(home))]
    made = part("instrument", "stable_rank")
    _PARTS["instrument"]["stable_rank"] = replace(made, version=made.version + 1)
    measure(home, FEW)
    sizes.append(len(rows(home)))
    assert sizes[1] == sizes[0] + len(rows(home, part="stable_rank", version=made.version + 1))
    _PARTS["instrument"]["stable_rank"] = replace(
        made, parameters={"power": 2}, make=lambda s, *, power: made.make(s)
    )
    measure(home, FEW)
    assert rows(home, part="stable_rank")["parameters"].nunique() == 3
    sizes.append(len(rows(home)))
    repeated = part("stimulus", "repeated_tokens")
    _PARTS["stimulus"]["repeated_tokens"] = replace(repeated, make=partial(repeated.make, seed=1))
    measure(home, FEW)
    assert rows(home, part="induction")["stimulus"].nunique() == 2
    assert len(rows(home)) == sizes[2] + 5 * 6
    newest = Run.open(home).rows("induction").sel(step=6).values
    only = run_of("only")
    measure(only, ["induction"])
    assert (newest == Run.open(only).rows("induction").sel(step=6).values).all(), "what is read is the newest"


def test_interrupted_after_k_it_resumes_to_the_same_rows(run_of, rows):
    whole, cut = run_of("whole"), run_of("cut")
    some = ["cka", "heldout_loss", "induction", "sink_mass", "stable_rank"]
    measure(whole, some)

    class Interrupted(Exception):
        pass

    def stop_after(count: int):
        def done(step: int) -> None:
            done.steps = [*getattr(done, "steps", []), step]
            if len(done.steps) == count:
                raise Interrupted

        return done

    for count in (1, 2):
        with pytest.raises(Interrupted):
            measure(cut, some, done=stop_after(count))
    assert sorted(set(rows(cut)["step"])) == [0, 1, 2]
    again = []
    assert measure(cut, some, done=again.append) == 2
    assert again == [4, 6]
    pd.testing.assert_frame_equal(rows(cut), rows(whole))


def test_rows_torn_between_two_files_are_measured_once(run_of, rows):
    """A crash after the rows and before the compaction leaves both; so do two measurements at once."""
    home = run_of("run")
    measure(home, FEW)
    before = rows(home)
    (path,) = (home / "rows").iterdir()
    (home / "rows" / "000000-twice.parquet").write_bytes(path.read_bytes())
    assert measure(home, FEW) == 0
    pd.testing.assert_frame_equal(rows(home), before)


def repeat_checkpoint(home, source: int, step: int) -> None:
    """A checkpoint with the weights of another, as a step leaves it that changed nothing."""
    found = open_checkpoint(home / "checkpoints" / f"{source:06d}")
    write_checkpoint(
        home / "checkpoints" / f"{step:06d}",
        tensors={"model": found.tensors("model")},
        documents={"config": found.document("config")},
        step=step,
        metadata={},
    )


@pytest.mark.parametrize("together", [True, False])
def test_two_steps_with_the_same_weights_are_both_measured(run_of, together):
    home = run_of("run")
    if not together:
        measure(home, FEW)
    repeat_checkpoint(home, 6, 7)
    assert measure(home, FEW) == (6 if together else 1)
    found = Run.open(home).rows("induction")
    assert found["step"].values.tolist() == [*STEPS, 7]
    assert (found.sel(step=7).values == found.sel(step=6).values).all()


def test_a_longer_run_is_compared_with_its_new_end(run_of, rows):
    home = run_of("run")
    measure(home, ["cka"])
    assert Run.open(home).rows("cka").sel(step=6).values == pytest.approx([1, 1], abs=1e-9)
    repeat_checkpoint(home, 0, 8)
    assert measure(home, ["cka"]) == 6
    found = Run.open(home).rows("cka")
    assert found.sel(step=8).values == pytest.approx([1, 1], abs=1e-9)
    assert found.sel(step=0).values == pytest.approx([1, 1], abs=1e-9), "the end is the beginning again"
    assert (found.sel(step=6).values < 1 - 1e-9).all(), "what is read refers to the new end"


def proof(reference: str, **more):
    @comparison(unit="similarity", source="a test", reference=reference, **more)
    def proof_cka(residual_sample: Pair):
        """Similarity. Known: itself -> 1.

        Known: itself -> 1.
        Misleads: no.
        """
        return debiased_cka(residual_sample.here, residual_sample.there)

    made = _PARTS["comparison"].pop("proof_cka")
    _PARTS["comparison"][f"proof_{reference}"] = replace(made, name=f"proof_{reference}")


@pytest.mark.usefixtures("own_catalogue")
def test_each_comparison_gets_its_own_reference(run_of, rows):
    proof("first")
    proof("previous")
    proof("final", stimuli=("heldout", "repeated_tokens"))
    home, alone = run_of("run"), run_of("alone")
    names = ["proof_final", "proof_first", "proof_previous"]
    measure(home, names)
    hashes = {checkpoint.step: checkpoint.hash for checkpoint in Run.open(home).checkpoints}
    for name, expected in (
        ("proof_final", dict.fromkeys(STEPS, 6)),
        ("proof_first", dict.fromkeys(STEPS, 0)),
        ("proof_previous", {1: 0, 2: 1, 4: 2, 6: 4}),
    ):
        frame = rows(home, part=name)
        said = {step: set(group["reference"]) for step, group in frame.groupby("step")}
        assert said == {step: {hashes[expected[step]] if step in expected else ""} for step in STEPS}
        measure(alone, [name])
    pd.testing.assert_frame_equal(rows(home), rows(alone))
    first = rows(home, part="proof_previous", step=0)
    assert set(first["status"]) == {Status.NO_TARGET}
    previous = Run.open(home).rows("proof_previous")
    first = Run.open(home).rows("proof_first")
    assert previous.sel(step=1).values == pytest.approx(first.sel(step=1).values)
    assert (first.sel(step=6).values < previous.sel(step=6).values).all()
    for stimulus in ("heldout", "repeated_tokens"):
        final = Run.open(home).rows("proof_final", stimulus=stimulus)
        assert final.sel(step=6).values == pytest.approx([1, 1], abs=1e-9)


def test_broken_weights_are_a_status_at_their_step_only(run_of, rows):
    home = run_of("run")
    repeat_checkpoint(home, 6, 7)
    found = open_checkpoint(home / "checkpoints" / "000006")
    tensors = {name: torch.full_like(tensor, torch.nan) for name, tensor in found.tensors("model").items()}
    write_checkpoint(
        home / "checkpoints" / "000008",
        tensors={"model": tensors},
        documents={"config": found.document("config")},
        step=8,
        metadata={},
    )
    assert measure(home) == 7
    broken = rows(home, step=8)
    assert Status.FAILED not in set(broken["status"])
    assert set(broken[broken["part"].isin(PLAIN)]["status"]) == {Status.NONFINITE}
    assert broken[broken["part"].isin(PLAIN)]["value"].isna().all()
    others = rows(home)[rows(home)["step"] != 8]
    assert set(others[others["part"].isin(PLAIN)]["status"]) == {Status.OK}


def test_what_is_nothing_or_unknown_is_refused(run_of, tmp_path):
    with pytest.raises(NotARun, match="neither a run nor checkpoints"):
        measure(tmp_path)
    with pytest.raises(UnknownName, match="did you mean 'induction'"):
        measure(run_of("run"), ["inductoin"])
    empty = run_of("empty")
    for folder in (empty / "checkpoints").iterdir():
        folder.rename(tmp_path / f"away-{folder.name}")
    with pytest.raises(NotARun, match="holds no checkpoint yet"):
        measure(empty)


def test_the_price_is_told_and_nothing_is_written(run_of):
    home = run_of("run")
    price = explain(home)
    assert price.checkpoints == 5
    assert {line[0] for line in price.stimuli} == {"(weights)", "heldout", "repeated_tokens"}
    assert 0 < price.plain_seconds < price.seconds
    assert not list((home / "rows").iterdir())
    measure(home)
    assert explain(home).checkpoints == 0


def test_rows_elsewhere_leave_the_run_alone(run_of, tmp_path, rows):
    home = run_of("run")
    measure(home, FEW, home=tmp_path / "elsewhere")
    assert not list((home / "rows").iterdir())
    assert len(rows(tmp_path / "elsewhere"))


def test_the_callers_threads_are_given_back(run_of):
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        measure(run_of("run"), ["heldout_loss"])
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_the_global_generator_is_not_touched(run_of):
    before = torch.get_rng_state()
    measure(run_of("run"))
    assert torch.equal(before, torch.get_rng_state())
