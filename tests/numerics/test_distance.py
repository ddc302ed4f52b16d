"""How far apart two weights are."""

import pytest
import torch

from ontogeny.numerics.distance import weight_distance

GAUSSIAN = torch.randn(7, 5, generator=torch.Generator().manual_seed(0))


def test_known_values():
    same = weight_distance(GAUSSIAN, GAUSSIAN.clone())
    assert (same[""].value, same["relative"].value, same[""].n) == (0, 0, 35)
    moved = weight_distance(3 * GAUSSIAN, GAUSSIAN)
    assert moved["relative"].value == pytest.approx(2, rel=1e-6)
    assert moved[""].value == pytest.approx(2 * float(GAUSSIAN.double().norm()), rel=1e-6)


def test_small_steps_on_large_weights_are_not_lost():
    here = torch.full((1000, 1000), 1.0)
    there = here.clone()
    there[0, 0] += 2**-23
    assert weight_distance(here, there)[""].value == pytest.approx(2**-23, rel=1e-12)


def test_disjoint_parts_add_in_quadrature():
    there = torch.zeros_like(GAUSSIAN)
    parts = [weight_distance(GAUSSIAN[rows], there[rows])[""].value for rows in (slice(3), slice(3, None))]
    assert sum(part**2 for part in parts) == pytest.approx(weight_distance(GAUSSIAN, there)[""].value ** 2)


def test_what_is_undefined_says_why():
    found = weight_distance(GAUSSIAN, torch.zeros_like(GAUSSIAN))
    assert found[""].reason == ""
    assert found["relative"].status == "zero-weight"
    broken = GAUSSIAN.clone()
    broken[2, 2] = torch.inf
    for pair in ((broken, GAUSSIAN), (GAUSSIAN, broken)):
        assert {reading.status for reading in weight_distance(*pair).values()} == {"nonfinite"}
    assert {reading.status for reading in weight_distance(GAUSSIAN, GAUSSIAN[:3]).values()} == {"failed"}
