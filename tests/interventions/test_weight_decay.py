"""Without gradient the norm shrinks by the product of (1 − η·λ), where it decays and while it decays."""

from itertools import pairwise

import pytest
import torch

from ontogeny.errors import BadContract
from ontogeny.interventions import weight_decay
from ontogeny.testing import tiny_training
from ontogeny.vocabulary import Window


def still(training):
    """A training whose loss hangs on no weight."""
    made = training.objective.loss

    def loss(model, batch):
        losses = made(model, batch)
        return type(losses)(losses.values * 0, losses.weights)

    training.objective.loss = loss
    return training


def test_the_norm_shrinks_by_the_product_of_the_rates(run, weights):
    made = weight_decay(value=2.0)
    made.window = Window(1, 4)
    schedule = {"name": "linear", "warmup": 3}
    training = still(tiny_training([made], schedule=schedule, optimizer={"weight_decay": 0.0}))
    before = weights(training)
    run(training, 6)
    rates = [0.01 * training.recipe.schedule.factor(step, 20) for step in (1, 2, 3)]
    expected = (1 - 2 * torch.tensor(rates, dtype=torch.float64)).prod()
    for name, parameter in training.model.named_parameters():
        decays = parameter.ndim == 2 and "embedding" not in name
        ratio = float(parameter.detach().norm() / before[name].norm())
        assert ratio == pytest.approx(float(expected) if decays else 1.0, rel=1e-6), name
        assert decays or torch.equal(parameter, before[name])


def test_outside_the_window_the_recipe_s_decay_holds(run, weights):
    made = weight_decay(value=0.0)
    made.window = Window(2, 4)
    training = still(tiny_training([made]))
    norms = []
    for _ in range(6):
        norms.append(float(training.model.blocks[0].mlp.up.weight.detach().double().norm()))
        run(training)
    ratios = [after / before for before, after in pairwise(norms)]
    assert ratios == pytest.approx([1 - 0.001, 1 - 0.001, 1, 1, 1 - 0.001], rel=1e-6)


def test_patterns_choose_what_decays_embeddings_and_gains_too(run, weights):
    training = still(tiny_training([weight_decay(value=1.0, patterns=("embedding.*", "*_norm.weight"))]))
    before = weights(training)
    run(training)
    for name, parameter in training.model.named_parameters():
        factor = 0.99 if "embedding" in name or "norm" in name else 1 - 0.001
        torch.testing.assert_close(parameter.detach(), before[name] * factor, rtol=1e-6, atol=0)


def test_a_pattern_that_fits_nothing_is_refused_with_the_names(run):
    with pytest.raises(BadContract, match=r"(?s)blocks\.9\.\*.*blocks\.0\.attention\.query\.weight"):
        run(tiny_training([weight_decay(patterns="blocks.9.*")]))


def test_an_optimizer_without_decay_is_refused(run):
    training = tiny_training([weight_decay()], optimizer={"name": "rprop", "weight_decay": 0.0})
    with pytest.raises(BadContract, match="Rprop has no weight decay"):
        run(training)


def test_a_negative_decay_is_refused():
    with pytest.raises(BadContract, match=r"value=-0\.1"):
        weight_decay(value=-0.1)
