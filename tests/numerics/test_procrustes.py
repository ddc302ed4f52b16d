import pytest
import torch

from ontogeny.numerics.procrustes import procrustes_distance
from ontogeny.numerics.similarity import items_of
from ontogeny.vocabulary import Status


def gaussian(rows, columns, seed=0):
    return torch.randn(rows, columns, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def distance(here, there):
    return procrustes_distance(items_of(here), items_of(there))


def test_a_scaled_rotation_is_at_no_distance():
    here = gaussian(200, 16)
    there = 3 * here @ torch.linalg.qr(gaussian(16, 16, 1)).Q + 7
    assert 0 <= distance(here, there).value < 1e-9
    assert 0 <= distance(here, here).value < 1e-12


def test_independent_representations():
    assert distance(gaussian(1024, 64), gaussian(1024, 64, 1)).value == pytest.approx(1.58, abs=0.01)
    assert distance(gaussian(8192, 64), gaussian(8192, 64, 1)).value > 1.8


def test_the_narrower_side_is_as_if_padded():
    here, there = gaussian(300, 20), gaussian(300, 8, 1)
    padded = torch.cat([there, torch.zeros(300, 12)], 1)
    assert distance(here, there).value == pytest.approx(distance(here, padded).value, abs=1e-12)
    assert distance(there, here).value == pytest.approx(distance(here, there).value, abs=1e-12)


def test_it_is_the_least_squared_difference_over_rotations():
    here, there = gaussian(100, 5), gaussian(100, 5, 1)
    x, y = (side - side.mean(0) for side in (here, there))
    x, y = x / x.norm(), y / y.norm()
    left, _, right = torch.linalg.svd(x.mT @ y)
    assert distance(here, there).value == pytest.approx(float((x @ left @ right - y).norm() ** 2), abs=1e-12)


@pytest.mark.parametrize("flipped", [False, True])
def test_equal_items_have_no_shape(flipped):
    pair = (torch.ones(20, 4), gaussian(20, 4))
    assert distance(*(reversed(pair) if flipped else pair)).status is Status.CONSTANT_INPUT


def test_unequal_numbers_are_refused():
    assert distance(gaussian(20, 4), gaussian(21, 4)).status is Status.FAILED
