"""TEL-06: how far successive gradients agree."""

import math

import pytest
import torch

from ontogeny.catalogue import part
from ontogeny.instruments import gradient_stability
from ontogeny.testing import check_declaration, check_online
from ontogeny.vocabulary import Status


def cosine(one: torch.Tensor, other: torch.Tensor) -> float:
    return float(gradient_stability({"a": one}, {"a": other}).value)


def test_the_same_the_opposite_and_a_right_angle():
    gradient = torch.randn(5, 3)
    assert cosine(gradient, 7 * gradient) == pytest.approx(1, abs=1e-12)
    assert cosine(gradient, -gradient) == pytest.approx(-1, abs=1e-12)
    assert cosine(torch.tensor([1.0, 0.0]), torch.tensor([0.0, 3.0])) == 0


def test_independent_batches_agree_as_their_noise_allows():
    """d = 2000, |G| = 1, unit noise, b = 200: 1 / (1 + B/b) = 0.0909, and 0.0906 of finite dimensions."""
    rng = torch.Generator().manual_seed(0)
    dimensions, batch, draws = 2000, 200, 4000
    mean = torch.zeros(dimensions)
    mean[0] = 1
    gradients = mean + torch.randn(draws, dimensions, generator=rng) / math.sqrt(batch)
    found = [cosine(one, other) for one, other in zip(gradients[::2], gradients[1::2], strict=True)]
    assert sum(found) / len(found) == pytest.approx(0.0906, abs=0.002)


def test_pure_noise_agrees_by_chance_alone():
    rng = torch.Generator().manual_seed(0)
    pairs = torch.randn(2, 500, 400, generator=rng)
    found = torch.tensor([cosine(one, other) for one, other in zip(*pairs, strict=True)])
    assert float(found.mean()) == pytest.approx(0, abs=4 / math.sqrt(400 * 500))
    assert float(found.std()) == pytest.approx(1 / math.sqrt(400), rel=0.1)


def test_only_parameters_with_both_gradients_are_compared():
    found = gradient_stability(
        {"a": torch.tensor([1.0]), "b": torch.ones(9)}, {"a": torch.tensor([2.0]), "c": torch.ones(4)}
    )
    assert (float(found.value), found.n) == (1, 1)


def test_it_knows_neither_scale_nor_order_nor_rotation():
    rng = torch.Generator().manual_seed(0)
    one, other = torch.randn(2, 6, 6, generator=rng)
    turn = torch.linalg.qr(torch.randn(6, 6, generator=rng))[0]
    plain = cosine(one, other)
    assert cosine(1e-6 * one, 1e6 * other) == pytest.approx(plain, rel=1e-6)
    assert cosine(turn @ one, turn @ other) == pytest.approx(plain, abs=1e-6)
    parts = ({"x": m[:2], "y": m[2:]} for m in (one, other))
    assert float(gradient_stability(*parts).value) == pytest.approx(plain, rel=1e-12)


@pytest.mark.parametrize(
    ("here", "before", "status"),
    [
        ({"a": torch.zeros(3)}, {"a": torch.ones(3)}, Status.ZERO_OUTPUT),
        ({"a": torch.tensor([math.inf])}, {"a": torch.ones(1)}, Status.NONFINITE),
        ({"a": torch.ones(1)}, {"b": torch.ones(1)}, Status.NO_TARGET),
        ({}, {}, Status.NO_TARGET),
    ],
)
def test_what_has_no_direction_has_no_agreement(here, before, status):
    found = gradient_stability(here, before)
    assert math.isnan(float(found.value))
    assert found.status == status


def test_sparse_gradients_are_compared_where_either_holds_something():
    one = torch.tensor([0.0, 3.0, 0.0, 4.0])
    other = torch.tensor([1.0, 1.0, 0.0, 0.0])
    assert cosine(one.to_sparse(), other.to_sparse()) == pytest.approx(cosine(one, other))


def test_it_keeps_the_contract():
    check_declaration(part("instrument", "gradient_stability"))
    check_online(part("instrument", "gradient_stability"))
