"""shrink 1, sigma 0 is the identity; shrink 0, sigma 1 of an initialisation is a fresh model."""

import pytest
import torch

from ontogeny.errors import BadContract
from ontogeny.interventions import shrink_and_perturb
from ontogeny.models import Decoder
from ontogeny.testing import tiny_training
from ontogeny.vocabulary import Streams, Window


@pytest.mark.parametrize("noise", ["normal", "init"])
def test_shrink_one_and_sigma_zero_change_no_weight(noise, run, weights):
    training = tiny_training()
    run(training, 2)
    before = weights(training)
    shrink_and_perturb(shrink=1.0, sigma=0.0, noise=noise).edit_state(training.state, 2)
    assert all(torch.equal(after, before[name]) for name, after in weights(training).items())


def test_shrink_zero_and_sigma_one_are_a_fresh_model(run, weights):
    training = tiny_training()
    run(training, 2)
    shrink_and_perturb(shrink=0.0, sigma=1.0, noise="init", seed=7).edit_state(training.state, 2)
    rng = Streams(7).generator("intervention", 2, "shrink_and_perturb")
    fresh = dict(Decoder(training.model.config, rng).named_parameters())
    assert all(torch.equal(after, fresh[name]) for name, after in weights(training).items())


def test_noise_is_standard_normal_and_moments_are_reset_where_it_acts(run, weights):
    training = tiny_training(model={"width": 64})
    run(training, 2)
    before = weights(training)
    made = shrink_and_perturb(shrink=0.8, sigma=0.5, patterns="blocks.*.mlp.*")
    made.edit_state(training.state, 2)
    noise = []
    for name, parameter in training.model.named_parameters():
        entry = training.optimizer.state[parameter]
        inside = ".mlp." in name
        assert inside == (float(entry["step"]) == 0)
        assert inside == bool((entry["exp_avg_sq"] == 0).all())
        if inside:
            noise.append(((parameter.detach() - 0.8 * before[name]) / 0.5).flatten())
        else:
            assert torch.equal(parameter, before[name])
    drawn = torch.cat(noise)
    assert len(drawn) > 5000
    assert float(drawn.mean()) == pytest.approx(0, abs=5 / len(drawn) ** 0.5)
    assert float(drawn.std()) == pytest.approx(1, rel=5 / len(drawn) ** 0.5)


def test_moments_may_be_kept(run):
    training = tiny_training()
    run(training, 2)
    shrink_and_perturb(reset=False).edit_state(training.state, 2)
    assert all(float(entry["step"]) == 2 for entry in training.optimizer.state.values())


def test_it_comes_again_every_so_many_steps_of_the_window(run):
    made = shrink_and_perturb(shrink=0.5, sigma=0.0, every=3, reset=False)
    made.window = Window(1, 8)
    training = tiny_training([made], optimizer={"lr": 0.0})
    gains = [1.0]
    for _ in range(10):
        run(training)
        gains.append(training.model.final_norm.weight[0].item())
    # at step 1 before the update, then between the updates of steps 3|4 and 6|7, never at the window's end
    assert gains == [1, 1, 0.5, 0.5, 0.25, 0.25, 0.25, 0.125, 0.125, 0.125, 0.125]


def test_unknown_noise_is_refused():
    with pytest.raises(BadContract, match="uniform"):
        shrink_and_perturb(noise="uniform")
