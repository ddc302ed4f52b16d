"""A loop of somebody else's is thinned, materialised and branched as far as it can be replayed."""

import pytest
import torch

from foreign_loop import STEPS, advance, batch_of, loader, made, recorded
from ontogeny.branch import branch
from ontogeny.errors import BadContract, Diverged, NotReplayable
from ontogeny.record.random_state import RandomState
from ontogeny.record.recorder import Recorder
from ontogeny.replay import at, materialise, thin
from ontogeny.store.run import Run

EVERY = {"checkpoints": set(range(0, STEPS + 1, 2))}


def fresh(**more):
    """What a foreign loop is replayed with, built anew."""
    model, optimizer, schedule = made()
    return {
        "advance": advance,
        "model": model,
        "optimizer": optimizer,
        "parts": {"schedule": schedule},
        **more,
    }


def digests(run: Run) -> dict[int, int]:
    frame = run.telemetry("model_digest").drop_duplicates("step", keep="last")
    return dict(zip(frame["step"].tolist(), map(int, frame["model_digest"].tolist()), strict=True))


def kept(run: Run) -> list[int]:
    return [checkpoint.step for checkpoint in Run.open(run.path).checkpoints]


def test_a_thinned_loop_replays_and_its_dropped_checkpoints_can_be_made_again(tmp_path):
    run = recorded(tmp_path / "run", between=loader, **EVERY)
    there = {c.step: (c.hash, c.document("state")) for c in run.checkpoints}
    loop, before = fresh(), RandomState.now()
    assert thin(run, 3, **loop) == [2, 4, 8, 10]
    assert RandomState.now().changes_since(before) == RandomState()
    run = Run.open(run.path)
    assert kept(run) == [0, 6, 12]
    assert at(run, 11, **fresh()).exact
    assert materialise(run, 3, 10, **fresh()) == [3, 4, 5, 7, 8, 9, 10]
    run = Run.open(run.path)
    assert run.verify() == []
    for checkpoint in run.checkpoints:
        if checkpoint.step in there:
            assert checkpoint.hash == there[checkpoint.step][0]
            assert checkpoint.document("state") == there[checkpoint.step][1], "random numbers included"
    found = at(run, 9, start=next(c for c in run.checkpoints if c.step == 7), **fresh())
    assert (found.exact, found.compared) == (True, 3)


def test_batches_may_be_given_where_none_are_on_tape(tmp_path):
    run = recorded(tmp_path / "run", tape=False, **EVERY)
    with pytest.raises(NotReplayable, match="was not kept"):
        thin(run, 2, **fresh())
    assert len(kept(run)) == 7
    assert len(thin(run, 2, **fresh(batches=batch_of))) == 5


def test_nothing_is_dropped_that_a_replay_does_not_give_back(tmp_path):
    """The weights come back and a part does not: an average that the digest knows nothing of."""

    class Forgetful:
        calls = 0

        def state_dict(self):
            return {"calls": self.calls}

        def load_state_dict(self, state):
            self.calls = 100

    def counting(state, batch):
        state["average"].calls += 1
        return advance(state, batch)

    def parts():
        model, optimizer, schedule = made()
        held = {"schedule": schedule, "average": Forgetful()}
        return {"advance": counting, "model": model, "optimizer": optimizer, "parts": held}

    loop = parts()
    torch.manual_seed(0)
    options = {"advance": counting, "tape": True, "parts": loop["parts"], **EVERY}
    with Recorder(tmp_path / "run", loop["model"], loop["optimizer"], **options) as recorder:
        for step in range(1, 7):
            recorder.advance(batch_of(step))
    run = Run.open(tmp_path / "run")
    assert at(run, 4, **parts()).exact
    with pytest.raises(Diverged, match="state average"):
        thin(run, 2, **parts())
    assert kept(run) == [0, 2, 4, 6]


def test_without_its_advance_it_is_refused_with_what_to_do(tmp_path):
    run = recorded(tmp_path / "run", steps=4, **EVERY)
    for act in (lambda: thin(run, 2), lambda: materialise(run, 1, 2), lambda: branch_of(run, 2, [])):
        with pytest.raises(NotReplayable, match="advance"):
            act()
    loop = fresh()
    del loop["advance"]
    for act in (lambda: thin(run, 2, **loop), lambda: branch_of(run, 2, [], until=3, **loop)):
        with pytest.raises(BadContract, match="no advance"):
            act()


def branch_of(run, step, apply, **options):
    return branch(run, at=step, apply=apply, out=run.path.parent / options.pop("out", "branch"), **options)


@pytest.fixture(scope="module")
def parent(tmp_path_factory):
    return recorded(tmp_path_factory.mktemp("foreign") / "parent", between=loader)


#: Every kind of extent that can be reached.
REACHABLE = [
    "weight_decay(value=0.5)",
    "learning_rate(factor=0.1)",
    "nudge(patterns='0.*')",
    "reset_moments()",
    "shrink_and_perturb(every=2)",
    "freeze(patterns='3.*')",
]


def test_a_sham_and_an_unchanged_branch_equal_the_parent(parent):
    expected = {step: digest for step, digest in digests(parent).items() if step >= 4}
    plain = branch_of(parent, 4, [], out="plain", **fresh())
    assert digests(plain) == expected
    assert plain.checkpoints[-1].hash == parent.checkpoints[-1].hash
    assert plain.checkpoints[-1].document("state") == parent.checkpoints[-1].document("state")
    sham = branch_of(parent, 4, REACHABLE, out="sham", sham=True, **fresh())
    assert digests(sham) == expected
    assert (sham.outcome, sham.grade, plain.grade) == ("finished", "D", "D")
    assert "equal bits up to step 4" in sham.identity["grade"]["reason"]
    tokens = [r.telemetry("tokens").set_index("step")["tokens"].loc[5:].tolist() for r in (parent, sham)]
    assert tokens[0] == tokens[1]


@pytest.mark.parametrize("spec", REACHABLE)
def test_a_branch_goes_another_way_from_its_step_and_replays(parent, spec):
    loop, before = fresh(), RandomState.now()
    made_ = branch_of(parent, 4, [spec], end=9, out=spec.partition("(")[0], **loop)
    assert RandomState.now().changes_since(before) == RandomState()
    mine, theirs = digests(made_), digests(parent)
    assert mine[4] == theirs[4]
    assert mine[5] != theirs[5]
    assert made_.verify() == []
    found = at(made_, 11, start=made_.checkpoints[0], **fresh())
    assert (found.exact, found.compared) == (True, 8)
    draws = [RandomState.of(r.checkpoints[-1].document("state")["random"]) for r in (made_, parent)]
    assert draws[0].changes_since(draws[1]) == RandomState(), "the same random numbers"


def test_a_branch_is_thinned_and_branched_in_turn(parent):
    spec = "weight_decay(value=0.5)"
    whole = branch_of(parent, 2, [spec], out="whole", **EVERY, **fresh())
    twig = branch_of(whole, 7, ["learning_rate(factor=3)"], end=9, until=11, out="twig", **fresh())
    assert [entry["start"] for entry in twig.identity["interventions"]] == [2, 7]
    assert (digests(twig)[7], max(digests(twig))) == (digests(whole)[7], 11)
    assert digests(twig)[8] != digests(whole)[8]
    assert at(twig, 11, **fresh()).exact
    assert thin(whole, 2, **fresh()) == [4, 6, 8, 10]
    same = branch_of(whole, 7, [], out="same", **fresh())
    assert digests(same) == {step: digest for step, digest in digests(whole).items() if step >= 7}


def test_a_policy_ends_a_branch_with_its_reason(parent):
    spec = "stop_on_plateau(patience=2, delta=100.0)"
    stopped = branch_of(parent, 3, [spec], out="stopped", **fresh())
    assert max(digests(stopped)) == 6
    assert any("has not fallen" in str(note) for note in stopped.notes)


def test_what_a_foreign_loop_cannot_be_asked_is_refused_before_anything_is_made(parent):
    for spec in ("batch_size()", "data_mixture()", "skip_data()", "dropout()", "swap_optimizer()"):
        with pytest.raises(BadContract, match="cannot act in a foreign loop"):
            branch_of(parent, 4, [spec], out="wrong", **fresh())
    with pytest.raises(NotReplayable, match="the tape"):
        branch_of(parent, 4, [], until=13, out="wrong", **fresh())
    with pytest.raises(BadContract, match="ends before it begins"):
        branch_of(parent, 12, [], out="wrong", **fresh())
    assert not (parent.path.parent / "wrong").exists()


def test_a_part_of_all_steps_is_refused_where_nobody_says_how_many_there_are(parent):
    with pytest.raises(BadContract, match="how many steps it has"):
        branch_of(parent, 4, ["gradient_freeze(patterns='0.*')"], out="unsaid", **fresh())
    assert Run.open(parent.path.parent / "unsaid").outcome == "failed"
    with pytest.raises(BadContract, match="gradient_freeze cannot be made so"):
        branch_of(parent, 4, ["gradient_freeze()"], out="nothing", **fresh())
