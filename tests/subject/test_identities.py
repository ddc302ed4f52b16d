"""How far is too far."""

import pytest
import torch

from ontogeny.subject.identities import apart


def test_rounding_is_a_share_of_the_largest_term():
    assert apart(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.0001])) == ""
    assert (
        apart(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.001])) == "is off by 0.001, with 0.0002 allowed"
    )
    small = torch.tensor([1e-3]), torch.tensor([1.1e-3])
    assert apart(*small)
    assert apart(*small, torch.tensor([50.0])) == "", "it is what is left of a sum of larger terms"


def test_of_long_sums_a_share_of_their_magnitudes_is_allowed():
    left = torch.tensor([1e-4]), torch.tensor([2e-4])
    assert apart(*left, summed=torch.tensor([11.0])) == ""
    assert apart(*left, summed=torch.tensor([9.0])) == "is off by 0.0001, with 9e-05 allowed"


def test_scale_changes_nothing():
    for scale in (1e-12, 1.0, 1e12):
        one, other = torch.tensor([1.0, 2.0]) * scale, torch.tensor([1.0, 2.001]) * scale
        assert apart(one, other)
        assert apart(one, one * (1 + 5e-5)) == ""


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_what_a_dtype_rounds_away_is_allowed(dtype):
    exact = torch.linspace(1, 2, 7, dtype=torch.float64)
    assert apart(exact.to(dtype), exact.to(dtype)) == ""
    assert apart(exact.to(dtype), (exact * 1.5).to(dtype))


def test_shapes_are_named():
    assert apart(torch.ones(2), torch.ones(3)) == "is [2], not [3]"


def test_what_is_not_finite_is_no_evidence_against_a_map():
    assert apart(torch.tensor([float("nan")]), torch.tensor([1.0])) == ""
    assert apart(torch.tensor([1.0]), torch.tensor([float("inf")])) == ""


def test_nothing_is_not_apart():
    assert apart(torch.ones(0), torch.ones(0)) == ""
