"""Whether a non-linearity gives exactly 0 for what is not positive."""

import pytest
import torch
from torch.nn import functional as F

from ontogeny.evidence.rectified import of_neurons

GATES = torch.randn(200, 30, generator=torch.Generator().manual_seed(0))
VALUES = torch.randn(200, 30, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (F.relu, True),
        (lambda x: F.relu(x).square(), True),
        (lambda x: F.relu(x) * VALUES, True),
        (F.gelu, False),
        (F.silu, False),
        (lambda x: F.silu(x) * VALUES, False),
        (F.leaky_relu, False),
        (torch.tanh, False),
    ],
)
def test_it_is_told_from_what_goes_in_and_comes_out(function, expected):
    assert of_neurons(function(GATES), GATES) is expected


def test_a_few_exact_zeros_of_a_smooth_function_do_not_make_it_one():
    low = GATES.clone()
    low[:, :3] -= 100
    assert not F.gelu(low)[:, :3].any(), "the smooth function rounds to 0 here"
    assert of_neurons(F.gelu(low), low) is False


def test_where_all_lies_far_below_zero_it_is_one():
    assert of_neurons(F.gelu(GATES - 1e3), GATES - 1e3) is True


def test_without_any_input_that_is_not_positive_nothing_is_claimed():
    assert of_neurons(GATES.abs(), GATES.abs()) is False
    assert of_neurons(GATES[:0], GATES[:0]) is False
    assert of_neurons(torch.full((3, 2), torch.nan), torch.full((3, 2), torch.nan)) is False
