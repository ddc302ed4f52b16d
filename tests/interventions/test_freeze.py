"""Frozen tensors keep every bit, decay and momentum included, and learn again after the window."""

import torch

from ontogeny.interventions import freeze
from ontogeny.testing import tiny_training
from ontogeny.vocabulary import Window


def test_frozen_tensors_are_bitwise_constant_with_their_moments_and_thaw_again(run, weights):
    made = freeze(patterns=("blocks.0.*", "final_norm.weight"))
    made.window = Window(2, 5)
    training = tiny_training([made])
    run(training, 2)
    before = weights(training)
    frozen = {n: p for n, p in training.model.named_parameters() if n.startswith(("blocks.0", "final"))}
    moments = {n: training.optimizer.state[p]["exp_avg"].clone() for n, p in frozen.items()}
    run(training, 3)
    for name, after in weights(training).items():
        assert torch.equal(after, before[name]) == (name in frozen), name
    for name, parameter in frozen.items():
        assert torch.equal(training.optimizer.state[parameter]["exp_avg"], moments[name])
        assert float(training.optimizer.state[parameter]["step"]) == 2
    run(training)
    assert not any(torch.equal(after, before[name]) for name, after in weights(training).items())


def test_the_others_get_the_update_they_would_have_got(run, weights):
    plain, held = tiny_training(), tiny_training([freeze(patterns="blocks.1.*")])
    for training in (plain, held):
        run(training)
    one, other = weights(plain), weights(held)
    assert all(torch.equal(one[name], other[name]) != name.startswith("blocks.1.") for name in one)
