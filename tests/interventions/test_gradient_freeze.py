"""tau 0 freezes nothing, tau inf everything at alpha·total; what is frozen keeps every bit."""

import math

import pytest
import torch

from ontogeny.errors import BadContract
from ontogeny.interventions import gradient_freeze
from ontogeny.testing import tiny_training

STATISTICS = ("gradient", "gradient_change", "weight_change")


@pytest.mark.parametrize("statistic", STATISTICS)
def test_tau_zero_is_the_plain_run(statistic, run, weights):
    made = gradient_freeze(statistic=statistic, tau=0.0, alpha=0.0)
    plain, watched = tiny_training(), tiny_training([made])
    for training in (plain, watched):
        run(training, 5)
    one, other = weights(plain), weights(watched)
    assert all(torch.equal(one[name], other[name]) for name in one)
    assert made.frozen == []


@pytest.mark.parametrize(
    ("statistic", "held"), [("gradient", 6), ("gradient_change", 6), ("weight_change", 7)]
)
def test_tau_infinite_freezes_all_at_alpha_of_the_total(statistic, held, run, weights):
    """Step 6 of 20 is the first at 0.3; the change of weights is known after its update."""
    training = tiny_training([gradient_freeze(statistic=statistic, tau=math.inf, alpha=0.3)])
    course = [weights(training)]
    for _ in range(9):
        run(training)
        course.append(weights(training))
    for name in course[0]:
        watched = ".attention." in name or ".mlp." in name
        moved = [not torch.equal(course[step][name], course[step + 1][name]) for step in range(9)]
        assert moved == [step < held or not watched for step in range(9)], name


@pytest.mark.parametrize("statistic", STATISTICS)
def test_the_statistic_is_a_mean_over_entries(statistic, run, weights):
    training, gradients, course = tiny_training(), [], [weights(tiny_training())]
    for _ in range(4):
        run(training)
        course.append(weights(training))
        gradients.append({n: p.grad.clone() for n, p in training.model.named_parameters()})
    name = "blocks.0.mlp.up.weight"
    changes = {
        "gradient": gradients[3][name],
        "gradient_change": gradients[3][name] - gradients[2][name],
        "weight_change": course[4][name] - course[3][name],
    }
    value = float(changes[statistic].abs().mean())
    for factor, frozen in ((0.999, []), (1.001, [name])):
        made = gradient_freeze(statistic=statistic, tau=value * factor, alpha=3 / 20, patterns=name)
        run(tiny_training([made]), 4)
        assert made.frozen == frozen


def test_matrices_at_rest_freeze_and_others_learn_on(run, weights):
    made = gradient_freeze(tau=1e-9, alpha=0.1)
    training = tiny_training([made])
    loss = training.objective.loss

    def without_first_mlp(model, batch):
        model.blocks[0].mlp.down.weight.requires_grad_(False).zero_()
        model.blocks[0].mlp.down.weight.requires_grad_(True)
        return loss(model, batch)

    training.objective.loss = without_first_mlp
    run(training, 4)
    assert set(made.frozen) == {"blocks.0.mlp.gate.weight", "blocks.0.mlp.up.weight"}


def test_senseless_parameters_are_refused():
    with pytest.raises(BadContract, match="loss"):
        gradient_freeze(statistic="loss")
