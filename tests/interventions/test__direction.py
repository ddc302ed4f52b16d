"""Angles of known vectors, and a gradient that is the sum of its parts'."""

import math

import pytest
import torch

from ontogeny.interventions._direction import direction_error, summed_gradient
from ontogeny.testing import tiny_training
from ontogeny.vocabulary import Streams


def vectors(*numbers):
    """A gradient in pieces of one entry."""
    return [torch.tensor([float(number)]) for number in numbers]


@pytest.mark.parametrize(
    ("one", "other", "error"),
    [
        (vectors(1, 2), vectors(3, 6), 0),
        (vectors(1, 0), vectors(0, 5), 1),
        (vectors(1, -2), vectors(-1, 2), 2),
        (vectors(1, 0), vectors(1, 1), 1 - 2**-0.5),
        (vectors(1e-30, 0), vectors(1e30, 1e30), 1 - 2**-0.5),
    ],
)
def test_known_angles(one, other, error):
    assert direction_error(one, other) == pytest.approx(error, abs=1e-12)


def test_nothing_has_no_direction():
    assert math.isnan(direction_error(vectors(0, 0), vectors(1, 2)))


def test_a_sum_over_batches_is_the_gradient_of_all_and_leaves_nothing_behind():
    training = tiny_training(model={"dropout": 0.5})
    model, objective = training.model.train(), training.objective
    draws = [objective.draw(step, Streams(0).generator("data", step)) for step in range(3)]
    batches = [objective.batch(draw, training.state, torch.Generator()) for draw in draws]
    parameters = list(model.parameters())
    found = summed_gradient(model, parameters, objective, batches)
    assert model.training
    assert all(parameter.grad is None for parameter in parameters)
    whole = {"tokens": torch.cat([batch["tokens"] for batch in batches])}
    objective.loss(model.eval(), whole).values.sum().backward()
    for parameter, gradient in zip(parameters, found, strict=True):
        torch.testing.assert_close(gradient.float(), parameter.grad, rtol=1e-4, atol=1e-5)
