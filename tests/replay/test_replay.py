"""Any step of a run is re-entered bit for bit, and what differs is named."""

import shutil

import pytest
import torch

from ontogeny.errors import Diverged, NotReplayable
from ontogeny.record.digests import ModelDigest
from ontogeny.record.recorder import Recorder
from ontogeny.replay import at, materialise, thin
from ontogeny.replay.replay import Difference
from ontogeny.store.run import Run


def copied(run: Run, tmp_path, **identity) -> Run:
    shutil.copytree(run.path, tmp_path / "runs" / "copy", symlinks=True)
    made = Run.open(tmp_path / "runs" / "copy")
    if identity:
        made.update_identity(**identity)
    return made


@pytest.mark.parametrize("step", [0, 3, 9, 27, 40])
def test_every_step_is_restored_with_its_recorded_digest(run, step):
    replayed = at(run, step)
    recorded = run.telemetry("model_digest").set_index("step")["model_digest"]
    assert replayed.exact
    assert replayed.step == step == replayed.training.state["counters"].step
    assert ModelDigest(replayed.training.model)() == int(recorded[step])
    assert replayed.compared == step - replayed.start + 1
    tokens = run.telemetry("tokens").set_index("step")["tokens"]
    if step:
        assert replayed.training.state["counters"].tokens == tokens[step]


def test_a_replay_from_the_start_passes_every_checkpoint(plain):
    seen = {}
    look = lambda training: seen.update({training.state["counters"].step: ModelDigest(training.model)()})
    first = plain.checkpoints[0]
    replayed = at(plain, 40, start=first, visit=look)
    assert replayed.compared == 41
    for checkpoint in plain.checkpoints:
        assert f"{seen[checkpoint.step]:016x}" == checkpoint.manifest.metadata["model_digest"]


def test_the_first_differing_step_and_tensor_are_named(plain, tmp_path):
    copy = copied(plain, tmp_path)
    copy.identity["recipe"]["training"]["clip"] = 1e-4
    copy.update_identity()
    with pytest.raises(Diverged, match="step 21"):
        at(copy, 25)
    found = at(copy, 25, statistical=True)
    assert found.difference.step == 21
    assert found.step == 25
    assert not found.exact
    names = set(ModelDigest(found.training.model).names)
    assert set(found.difference.tensors) <= names
    assert "embedding.weight" in found.difference.tensors
    assert str(Difference(3, ("a", "b", "c", "d"))) == "step 3: a, b, c …"


def test_one_tensor_off_by_one_bit_is_found_and_named(plain):
    training = at(plain, 20).training
    digest = ModelDigest(training.model)
    before = digest.checks()
    weight = training.model.get_parameter("blocks.0.mlp.up.weight")
    with torch.no_grad():
        weight.view(-1).view(torch.int32)[5] ^= 1
    changed = {key for key, value in digest.checks().items() if value != before[key]}
    index = digest.names.index("blocks.0.mlp.up.weight")
    assert changed == {f"tensor_check/{index // 4}"}


def test_other_threads_are_refused_as_exact_and_offered_as_statistical(plain):
    torch.set_num_threads(2)
    try:
        with pytest.raises(NotReplayable, match=r"threads was 1, is 2"):
            at(plain, 12)
        assert at(plain, 12, statistical=True).step == 12
    finally:
        torch.set_num_threads(1)


def test_a_foreign_loop_says_why_not(tmp_path):
    model = torch.nn.Linear(2, 2)
    Recorder(tmp_path / "run", model, torch.optim.SGD(model.parameters(), lr=0.1)).close()
    with pytest.raises(NotReplayable, match="foreign loop"):
        at(tmp_path / "run", 0)


def test_without_optimizer_state_nothing_is_pretended(plain, tmp_path):
    copy = copied(plain, tmp_path)
    for checkpoint in copy.checkpoints:
        if checkpoint.step < 20:
            shutil.rmtree(checkpoint.folder)
    with pytest.raises(NotReplayable, match="no checkpoint at or before step 15"):
        at(copy, 15)


def test_thinning_drops_only_what_replay_gives_back(plain, tmp_path):
    copy = copied(plain, tmp_path)
    before = [c.step for c in copy.checkpoints]
    dropped = thin(copy, 3)
    left = [c.step for c in copy.checkpoints]
    assert len(left) == 3
    assert (left[0], left[-1]) == (0, 40)
    assert sorted(left + dropped) == before
    assert copy.verify() == []
    assert at(copy, dropped[0]).exact


def test_thinning_keeps_what_it_cannot_restore(plain, tmp_path):
    copy = copied(plain, tmp_path)
    copy.identity["recipe"]["training"]["clip"] = 1e-4
    copy.update_identity()
    before = [c.step for c in copy.checkpoints]
    with pytest.raises(Diverged):
        thin(copy, 2)
    assert [c.step for c in copy.checkpoints] == before


def test_thinning_keeps_the_fork_of_a_branch(plain, tmp_path):
    copy = copied(plain, tmp_path)
    child = tmp_path / "runs" / "child"
    Run.create(child, {"parent": {"run": copy.id, "name": "copy", "step": 8}})
    thin(copy, 2)
    assert [c.step for c in copy.checkpoints] == [0, 8, 40]


def test_an_interval_can_be_materialised(plain, tmp_path):
    copy = copied(plain, tmp_path)
    written = materialise(copy, 11, 14)
    assert list(written) == [11, 12, 13, 14]
    recorded = copy.telemetry("model_digest").set_index("step")["model_digest"]
    for checkpoint in copy.checkpoints:
        assert int(checkpoint.manifest.metadata["model_digest"], 16) == int(recorded[checkpoint.step])
    assert copy.verify() == []
    assert list(materialise(copy, 11, 14)) == [], "what is there is not written again"
