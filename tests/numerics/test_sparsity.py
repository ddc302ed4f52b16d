import math

import pytest
import torch

from ontogeny.numerics import sparsity
from ontogeny.numerics.sparsity import rank_of_change, unmoved_shares
from ontogeny.vocabulary import Status

TOLERANCES = (0.0, 1e-7, 1e-6, 1e-5)


def gaussian(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def shares(here, there, dtype=torch.float32):
    return unmoved_shares({"w": here}, {"w": there}, TOLERANCES, dtype)


def test_nothing_moved_and_everything_moved():
    start = gaussian(40, 30)
    assert {found.value for found in shares(start, start.clone()).values()} == {1.0}
    assert {found.value for found in shares(start + 1e-3, start).values()} == {0.0}


def test_tolerances_count_what_lies_within_them():
    start = torch.zeros(10)
    moved = torch.tensor([0, 0, 0, 5e-8, 5e-8, 5e-7, 5e-6, 5e-6, 5e-6, 5e-5])
    found = [float(share.value) for share in shares(moved, start).values()]
    assert found == pytest.approx([0.3, 0.5, 0.6, 0.9])
    assert shares(moved, start)[0.0].n == 10


def test_bfloat16_rounds_small_movements_away():
    """The spacing near 0.01 is 6e-5, so a movement of 2e-5 is mostly not seen at all."""
    start = 0.01 + 0.001 * torch.rand(5000, generator=torch.Generator().manual_seed(0))
    moved = start + 2e-5
    assert shares(moved, start)[1e-5].value == 0
    assert 0.5 < shares(moved, start, torch.bfloat16)[0.0].value < 0.8


def test_many_tensors_are_counted_together_whatever_the_slices(monkeypatch):
    here = {"a": torch.zeros(6, 5), "b": torch.ones(10)}
    there = {"a": torch.zeros(6, 5), "b": torch.zeros(10)}
    whole = unmoved_shares(here, there, TOLERANCES, torch.float32)
    monkeypatch.setattr(sparsity, "SLICE", 7)
    assert unmoved_shares(here, there, TOLERANCES, torch.float32) == whole
    assert whole[0.0].value == 0.75


def test_the_rank_of_a_product_is_its_inner_size():
    start = gaussian(30, 20)
    change = gaussian(30, 3, seed=1).double() @ gaussian(3, 20, seed=2).double()
    assert rank_of_change(start.double() + change, start.double()).value == 3
    assert rank_of_change(start, start.clone()).value == 0
    assert rank_of_change(gaussian(30, 20, seed=3), start).value == 20


def test_what_cannot_be_counted_says_why():
    good, bad = gaussian(3, 3), torch.full((3, 3), math.nan)
    for pair, status in (
        ((good, bad), Status.NONFINITE),
        ((good, gaussian(3, 4)), Status.FAILED),
        ((torch.zeros(0), torch.zeros(0)), Status.N_TOO_SMALL),
    ):
        assert {found.status for found in shares(*pair).values()} == {status}
    assert rank_of_change(good, bad).status is Status.NONFINITE
    assert rank_of_change(good, gaussian(3, 4)).status is Status.FAILED
