"""After a reset Adam's next update is a first one: −η·sign(g)."""

import torch

from ontogeny.interventions import reset_moments
from ontogeny.testing import tiny_training
from ontogeny.vocabulary import Window


def test_the_next_update_is_a_first_one(run, weights):
    made = reset_moments()
    made.window = Window(3, 4)
    training = tiny_training([made], optimizer={"weight_decay": 0.0})
    run(training, 3)
    before = weights(training)
    run(training)
    for name, parameter in training.model.named_parameters():
        large = parameter.grad.abs() > 1e-5
        expected = before[name] - 0.01 * parameter.grad.sign()
        assert bool(large.any())
        torch.testing.assert_close(parameter.detach()[large], expected[large], rtol=1e-3, atol=1e-5)


def test_only_what_fits_is_reset_and_counts_only_if_asked(run):
    made = reset_moments(patterns="blocks.0.*", counts=False)
    made.window = Window(3)
    training = tiny_training([made])
    run(training, 3)
    kept = {p: {k: v.clone() for k, v in entry.items()} for p, entry in training.optimizer.state.items()}
    made.edit_state(training.state, 3)
    for name, parameter in training.model.named_parameters():
        entry = training.optimizer.state[parameter]
        inside = name.startswith("blocks.0.")
        assert float(entry["step"]) == 3
        for key in ("exp_avg", "exp_avg_sq"):
            assert bool((entry[key] == 0).all()) == inside
            assert torch.equal(entry[key], kept[parameter][key]) != inside


def test_before_the_first_update_there_is_nothing_to_reset(run, weights):
    plain, reset = tiny_training(), tiny_training([reset_moments()])
    for training in (plain, reset):
        run(training, 2)
    one, other = weights(plain), weights(reset)
    assert all(torch.equal(one[name], other[name]) for name in one)
