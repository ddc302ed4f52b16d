import math

import pytest
import torch

from ontogeny.numerics.count_sketch import WIDTH, count_sketch


def gaussian(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_few_elements_are_themselves():
    matrix = gaussian(64, 64)
    assert torch.equal(count_sketch({"": matrix}), matrix.flatten())


def test_inner_products_are_kept_within_their_deviation():
    x = gaussian(200, 200)
    y = 0.5 * x + gaussian(200, 200, seed=1)
    bound = 4 * math.sqrt(2 / WIDTH)
    for one, other in ((x, y), (x, x), (y, y)):
        found = float(count_sketch({"w": one}) @ count_sketch({"w": other}))
        assert abs(found - float((one * other).sum())) < bound * float(one.norm() * other.norm())


def test_it_is_linear_and_always_the_same():
    x, y = (
        {"a": gaussian(80, 80), "b": gaussian(9)},
        {"a": gaussian(80, 80, seed=1), "b": gaussian(9, seed=2)},
    )
    both = {name: x[name] - 2 * y[name] for name in x}
    torch.testing.assert_close(count_sketch(both), count_sketch(x) - 2 * count_sketch(y))
    torch.testing.assert_close(count_sketch(dict(reversed(x.items()))), count_sketch(x))
    assert len(count_sketch(x)) == WIDTH


def test_every_element_goes_to_one_coordinate_with_a_sign():
    for index in (0, 17, 9_999):
        one = torch.zeros(100, 100)
        one.view(-1)[index] = 1
        sketched = count_sketch({"w": one})
        assert sketched.abs().sum() == pytest.approx(1)
        assert int((sketched != 0).sum()) == 1


def test_names_tell_tensors_apart():
    same = gaussian(100, 100)
    apart = float(count_sketch({"a": same}) @ count_sketch({"b": same})) / float(same.square().sum())
    assert abs(apart) < 0.1
