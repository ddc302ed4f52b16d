"""Clean trainings raise no alarm; every planted fault is named, and nothing else."""

import itertools

import numpy as np
import pytest

from ontogeny.audit import KINDS
from ontogeny.audit.weights import weight_findings
from trained_checkpoints import SPACINGS, train

from .conftest import STEPS, imprints_of

#: True of a training whose first learning rate is zero.
TRUE = {"no-update-yet"}


def _named(findings):
    return {(one.kind, one.steps) for one in findings if one.kind not in TRUE}


def test_a_clean_training_raises_no_alarm(clean, twin, found):
    assert not _named(found(clean))
    assert not _named(found(twin))


@pytest.mark.slow
def test_no_alarm_in_twenty_clean_trainings_of_every_kind():
    plans = itertools.product(
        ("sgd", "momentum", "adamw"), ("constant", "cosine", "stable-decay", "restarts"), ("even", "pythia")
    )
    alarms = {}
    for seed, (optimizer, plan, spacing) in enumerate(plans):
        series = train(100 + seed, optimizer, plan, SPACINGS[spacing](190))
        if named := _named(weight_findings("clean", imprints_of(series))):
            alarms[optimizer, plan, spacing] = named
    assert seed + 1 >= 20
    assert not alarms


@pytest.mark.parametrize("step", [10, 60, 120, 180])
def test_a_checkpoint_of_another_seed_is_foreign(clean, twin, found, step):
    assert _named(found({**clean, step: twin[step]})) == {("foreign-checkpoint", (step,))}


def test_a_start_of_another_seed_is_none_of_its_own(clean, twin, found):
    assert _named(found({**clean, 0: twin[0]})) == {("not-descended", (0,))}


@pytest.mark.parametrize("step", [20, 60, 120])
def test_f87_late_weights_under_an_early_name_are_misplaced(clean, found, step):
    assert ("misplaced-checkpoint", (step, 190)) in _named(found({**clean, step: clean[190]}))
    near = {name: (clean[180][name] + tensor) / 2 for name, tensor in clean[190].items()}
    ((kind, steps),) = _named(found({**clean, step: near}))
    assert kind == "misplaced-checkpoint"
    assert steps in ((step, 180), (step, 190))


@pytest.mark.parametrize(("one", "other"), [(30, 90), (60, 150), (40, 60)])
def test_exchanged_checkpoints_are_both_named(clean, found, one, other):
    spoiled = {**clean, one: clean[other], other: clean[one]}
    assert _named(found(spoiled)) == {("swapped-checkpoints", (one, other))}


@pytest.mark.parametrize("step", [30, 80, 120])
def test_exchanged_neighbours_are_named(clean, found, step):
    spoiled = {**clean, step: clean[step + 10], step + 10: clean[step]}
    assert _named(found(spoiled)) == {("swapped-checkpoints", (step, step + 10))}


def test_a_shard_of_another_step_is_named_with_its_tensors(clean, found):
    shard = {name: tensor for name, tensor in clean[150].items() if name.startswith("blocks.1.")}
    (one,) = [one for one in found({**clean, 50: {**clean[50], **shard}}) if one.kind not in TRUE]
    assert (one.kind, one.steps) == ("misplaced-shard", (50, 150))
    large = {name for name, tensor in shard.items() if tensor.numel() >= 256}
    assert set(one.tensors) == large


def test_a_shard_of_another_seed_is_named(clean, twin, found):
    shard = {name: tensor for name, tensor in twin[50].items() if name.startswith("blocks.1.")}
    (one,) = [one for one in found({**clean, 50: {**clean[50], **shard}}) if one.kind not in TRUE]
    assert (one.kind, one.steps) == ("foreign-shard", (50,))
    assert all(name.startswith("blocks.1.") for name in one.tensors)


def test_a_shard_that_was_not_rewritten_is_stale(clean, found):
    shard = {name: tensor for name, tensor in clean[50].items() if name.startswith("blocks.1.")}
    named = _named(found({**clean, 60: {**clean[60], **shard}}))
    assert {kind for kind, _ in named} <= {"stale-tensors", "misplaced-shard"}
    assert any(60 in steps for _, steps in named)


def test_two_trainings_that_take_turns_are_told_apart(clean, twin, found):
    mixed = {step: (clean if i % 2 else twin)[step] for i, step in enumerate(STEPS)}
    assert "interleaved-runs" in {kind for kind, _ in _named(found(mixed))}


def test_a_second_half_of_another_training_breaks_the_chain(clean, twin, found):
    joined = {step: (clean if step < 100 else twin)[step] for step in STEPS}
    assert ("broken-chain", (90, 100)) in _named(found(joined))


def test_random_walks_and_points_about_one_place_are_clean(found):
    rng = np.random.default_rng(0)
    import torch

    noise = rng.normal(size=(20, 64, 64))
    walk = {step: {"w": torch.tensor(w, dtype=torch.float32)} for step, w in enumerate(noise.cumsum(0))}
    about = {step: {"w": torch.tensor(5 + w, dtype=torch.float32)} for step, w in enumerate(noise)}
    assert not found(walk)
    assert not {one.kind for one in found(about)} - {"broken-chain", "not-descended"}


def test_every_kind_that_is_found_is_listed(clean, twin, found):
    kinds = {one.kind for one in found({**clean, 60: twin[60]})}
    assert kinds <= set(KINDS)
