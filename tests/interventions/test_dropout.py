"""Inside the window it is the Decoder's own dropout; outside, and in everything else, nothing."""

import pytest
import torch

from ontogeny.errors import BadContract
from ontogeny.interventions import dropout
from ontogeny.testing import tiny_training
from ontogeny.vocabulary import Window


def test_it_is_what_a_recipe_with_dropout_does(run, weights):
    recipe = tiny_training(model={"dropout": 0.2})
    inside = tiny_training([dropout(rate=0.2)])
    for training in (recipe, inside):
        run(training, 4)
    one, other = weights(recipe), weights(inside)
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_rate_zero_takes_the_recipe_s_dropout_away(run, weights):
    plain, off = tiny_training(), tiny_training([dropout(rate=0.0)], model={"dropout": 0.2})
    for training in (plain, off):
        run(training, 4)
    one, other = weights(plain), weights(off)
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_outside_the_window_the_bits_are_those_of_a_run_without_it(run, weights):
    """Late dropout: equal up to its start. Early dropout: after it, from equal weights, equal again."""
    late, early = dropout(), dropout()
    late.window, early.window = Window(3), Window(0, 2)
    plain, delayed = tiny_training(), tiny_training([late])
    run(plain, 3)
    run(delayed, 3)
    assert all(torch.equal(p, weights(delayed)[name]) for name, p in weights(plain).items())
    ended = tiny_training([early], optimizer={"name": "sgd"})
    run(ended, 2)
    fresh = tiny_training(optimizer={"name": "sgd"})
    fresh.model.load_state_dict(ended.model.state_dict())
    fresh.state["counters"].step = 2
    draws = [[found.draw for found in run(training, 3)] for training in (ended, fresh)]
    assert draws[0] == draws[1]
    assert all(torch.equal(p, weights(ended)[name]) for name, p in weights(fresh).items())


def test_linear_dropout_falls_to_zero_at_the_window_s_end(run):
    made = dropout(rate=0.4, shape="linear")
    made.window = Window(2, 6)
    training, seen = tiny_training([made]), []
    training.model.embedding.register_forward_hook(
        lambda *_: seen.append((training.model.config.dropout, training.model.blocks[0].rate))
    )
    run(training, 8)
    falling = [0, 0, 0.4, 0.3, 0.2, 0.1, 0, 0]
    assert [rate for rate, _ in seen] == pytest.approx(falling)
    assert [rate for _, rate in seen] == pytest.approx(falling)
    assert training.model.config.dropout == 0


def test_the_rate_is_put_back_when_the_loss_fails():
    training = tiny_training([dropout(rate=0.4)])

    def fail(model, batch):
        raise ZeroDivisionError

    training.objective.loss = fail
    with pytest.raises(ZeroDivisionError):
        training.step()
    assert training.model.config.dropout == training.model.blocks[1].rate == 0


@pytest.mark.parametrize("wrong", [{"rate": 1.0}, {"shape": "cosine"}])
def test_senseless_parameters_are_refused(wrong):
    with pytest.raises(BadContract, match="dropout cannot be made so"):
        dropout(**wrong)
