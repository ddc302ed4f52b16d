"""The true rate changes: the update's norm by the factor on a first step, other modules not by a bit."""

import pytest
import torch

from ontogeny.errors import BadContract
from ontogeny.interventions import learning_rate
from ontogeny.testing import tiny_training
from ontogeny.vocabulary import Window


def updates(training, run, weights):
    before = weights(training)
    run(training)
    return {name: after - before[name] for name, after in weights(training).items()}


@pytest.mark.parametrize("name", ["adamw", "sgd"])
def test_the_first_update_is_the_factor_times_what_it_was_and_others_are_bitwise_equal(name, run, weights):
    tables = {"optimizer": {"name": name, "weight_decay": 0.0}}
    made = learning_rate(factor=0.25, patterns="blocks.1.attention.*")
    plain, slowed = tiny_training(**tables), tiny_training([made], **tables)
    for training in (plain, slowed):
        training.model.double()  # so that the updates can be read off the weights
    one, other = (updates(training, run, weights) for training in (plain, slowed))
    for parameter, update in one.items():
        if parameter.startswith("blocks.1.attention."):
            assert float(other[parameter].norm() / update.norm()) == pytest.approx(0.25, rel=1e-6)
        else:
            assert torch.equal(other[parameter], update)


def seen_rates(made, steps, run, **tables):
    """The rate of the upper query and of the embedding at every step."""
    training = tiny_training([made], **tables)
    upper, other = training.model.blocks[1].attention.query.weight, training.model.embedding.weight
    found = []

    def look(optimizer, *_):
        rate = {id(p): group["lr"] for group in optimizer.param_groups for p in group["params"]}
        found.append((rate[id(upper)], rate[id(other)]))

    training.optimizer.register_step_pre_hook(look)
    run(training, steps)
    return zip(*found, strict=True)


def test_the_named_recipe_slows_upper_queries_and_keys_and_returns_linearly(run):
    made = learning_rate(upper_query_key=True, back=0.5)
    made.window = Window(1, 9)
    upper, other = seen_rates(made, 11, run)
    factors = [1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.325, 0.55, 0.775, 1, 1]
    assert upper == pytest.approx([0.01 * factor for factor in factors])
    assert other == pytest.approx([0.01] * 11)


def test_the_named_recipe_takes_queries_keys_and_their_norms_of_the_upper_half():
    training = tiny_training(model={"layers": 3, "qk_norm": True, "bias": True})
    chosen = {id(p) for p in learning_rate(upper_query_key=True)._slowed(training.model)}
    names = {name for name, p in training.model.named_parameters() if id(p) in chosen}
    kinds = ("query.weight", "query.bias", "query_norm.weight", "key.weight", "key.bias", "key_norm.weight")
    assert names == {f"blocks.2.attention.{kind}" for kind in kinds}
    assert learning_rate(upper_query_key=True).back == 0.2
    with pytest.raises(BadContract, match="two layers"):
        learning_rate(upper_query_key=True)._slowed(tiny_training(model={"layers": 1}).model)


def test_a_rate_replaces_the_schedule_and_an_open_window_returns_at_the_recipe_s_end(run):
    tables = {"training": {"steps": 8}, "schedule": {"name": "linear"}}
    upper, other = seen_rates(learning_rate(rate=0.004, back=0.5), 8, run, **tables)
    scheduled = [0.01 * (1 - (step + 1) / 8) for step in range(8)]
    kept = [1, 1, 1, 1, 1, 0.75, 0.5, 0.25]
    mixed = [w * 0.004 + (1 - w) * rate for w, rate in zip(kept, scheduled, strict=True)]
    assert upper == pytest.approx(mixed)
    assert other == pytest.approx(mixed)


@pytest.mark.parametrize(
    "wrong", [{"factor": -1}, {"rate": -1}, {"back": 2}, {"upper_query_key": True, "patterns": "*"}]
)
def test_senseless_parameters_are_refused(wrong):
    with pytest.raises(BadContract, match="learning_rate cannot be made so"):
        learning_rate(**wrong)
