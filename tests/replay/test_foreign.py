"""A loop of somebody else's is re-entered at any step, bit for bit, or says why not."""

import pytest
import torch

from foreign_loop import KEPT, STEPS, advance, batch_of, loader, made, recorded
from ontogeny.branch import branch
from ontogeny.errors import BadContract, Diverged, NotReplayable
from ontogeny.record.digests import ModelDigest
from ontogeny.record.random_state import RandomState, restore_random_state
from ontogeny.record.recorder import Recorder
from ontogeny.record.restoring import restore_state
from ontogeny.replay import at
from ontogeny.store.run import Run
from ontogeny.vocabulary import Counters, TrainingState


def replayed(run: Run, step: int, **options):
    model, optimizer, schedule = made()
    options = {"advance": advance, **options}
    before = RandomState.now()
    found = at(run, step, model=model, optimizer=optimizer, parts={"schedule": schedule}, **options)
    assert RandomState.now().changes_since(before) == RandomState(), "the caller's numbers are his own"
    return found


@pytest.mark.parametrize("between", [lambda step: None, loader], ids=["quiet", "loader"])
def test_every_step_is_replayed_from_the_tape(tmp_path, between):
    run = recorded(tmp_path / "run", between=between)
    assert run.verify() == []
    digests = run.telemetry("model_digest").set_index("step")["model_digest"]
    for step in range(STEPS + 1):
        found = replayed(run, step)
        assert found.exact
        assert found.start == max(k for k in KEPT | {STEPS} if k <= step)
        assert found.compared == step - found.start + 1
        assert ModelDigest(found.training.model)() == int(digests[step])
        assert vars(found.training.state["counters"]) == {
            "step": step, "samples": 4 * step, "tokens": 24 * step, "micro_batches": step,
        }  # fmt: skip


def test_batches_may_be_given_where_none_are_on_tape(tmp_path):
    run = recorded(tmp_path / "run", tape=False, between=loader)
    assert replayed(run, 8, batches=batch_of).exact
    with pytest.raises(NotReplayable, match=r"batch of step 6 .* was not kept"):
        replayed(run, 8)
    with pytest.raises(NotReplayable, match="step 6 is not the one"):
        replayed(run, 8, batches=lambda step: batch_of(step + 1))
    assert recorded(tmp_path / "bare", tape=False).disk_bytes()["tape"] < 15_000, "counts and digests"
    assert "not on tape" in run.identity["grade"]["reason"]
    assert run.grade == "S"


def test_an_honest_loop_earns_d_and_no_other(tmp_path):
    run = recorded(tmp_path / "honest", between=loader)
    assert run.grade == "D"
    assert "first 3 steps" in run.identity["grade"]["reason"]
    calls = iter(range(1000))
    model, optimizer, schedule = made()

    def forgetful(state, batch):
        state["optimizer"].param_groups[0]["lr"] = 0.01 * next(calls)
        return advance(state, batch)

    run = recorded(tmp_path / "forgetful", advance=forgetful)
    assert run.grade == "S"
    assert "gave other bits" in run.identity["grade"]["reason"]

    mine = TrainingState(model=model, optimizer=optimizer, schedule=schedule)
    recorder = Recorder(
        tmp_path / "closure", model, optimizer, advance=lambda state, batch: advance(mine, batch),
        tape=True, parts={"schedule": schedule},
    )  # fmt: skip
    for step in range(1, 5):
        recorder.advance(batch_of(step))
    digest = ModelDigest(model)()
    recorder.close()
    assert "other parts" in Run.open(tmp_path / "closure").identity["grade"]["reason"]
    assert ModelDigest(model)() == digest, "the weights are as the loop left them"
    run = recorded(tmp_path / "late", checkpoints={5})
    assert (run.grade, "nothing to repeat" in run.identity["grade"]["reason"]) == ("S", True)


def test_another_loop_is_found_out_at_its_first_step(tmp_path):
    run = recorded(tmp_path / "run")

    def other(state, batch):
        loss = advance(state, batch)
        with torch.no_grad():
            state["model"][3].bias[0] += 1e-3
        return loss

    with pytest.raises(Diverged, match=r"step 6: 3\.bias"):
        replayed(run, 8, advance=other)
    found = replayed(run, 8, advance=other, statistical=True)
    assert (found.step, found.difference.step, found.exact) == (8, 6, False)


def test_what_cannot_be_replayed_says_why(tmp_path):
    run = recorded(tmp_path / "run", steps=6)
    with pytest.raises(NotReplayable, match="foreign loop") as caught:
        at(run, 3)
    assert "advance=" in str(caught.value)
    with pytest.raises(NotReplayable, match="not recorded up to step 7"):
        replayed(run, 7)
    with pytest.raises(NotReplayable):
        branch(run, at=3, apply=[], out=tmp_path / "branch")
    model, optimizer, schedule = made()
    with Recorder(tmp_path / "plain", model, optimizer, parts={"schedule": schedule}) as recorder:
        recorder.step(advance(recorder.state, batch_of(1)))
        with pytest.raises(BadContract, match="does not know how"):
            recorder.advance(batch_of(2))
    with pytest.raises(NotReplayable, match="nothing tells what step 1"):
        replayed(Run.open(tmp_path / "plain"), 1, start=Run.open(tmp_path / "plain").checkpoints[0])
    with Recorder(tmp_path / "odd", model, optimizer, advance=advance, tape=True) as recorder:
        with pytest.raises(BadContract, match="batch/0"):
            recorder.advance([object()])
        assert recorder.counters.step == 0


def test_a_resumed_loop_is_the_uncut_one_and_replays(tmp_path):
    whole = recorded(tmp_path / "whole", between=loader)
    run = recorded(tmp_path / "cut", between=loader, steps=7)
    model, optimizer, schedule = made()
    counters = Counters()
    saved = next(c for c in run.checkpoints if c.step == 5)
    restore_state(
        TrainingState(model=model, optimizer=optimizer, schedule=schedule, counters=counters), saved
    )
    parts = {"schedule": schedule, "counters": counters}
    restore_random_state(saved.document("state")["random"])
    options = {"advance": advance, "tape": True, "checkpoints": KEPT, "parts": parts, "resume": True}
    with Recorder(run.path, model, optimizer, **options) as recorder:
        for step in range(6, STEPS + 1):
            loader(step)
            recorder.advance(batch_of(step), tokens=24, samples=4)
    run = Run.open(run.path)
    digests = [
        r.telemetry("model_digest").drop_duplicates("step", keep="last")["model_digest"].tolist()
        for r in (whole, run)
    ]
    assert digests[0] == digests[1]
    for step in (3, 6, 7, 8, 12):
        assert replayed(run, step).exact
