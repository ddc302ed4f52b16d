"""ACT-04."""

import math

import pytest
import torch


def test_identical_tokens_are_zero_and_independent_ones_nearly_one(read, value, gaussian):
    rows = read("rank_residual", "residual", gaussian(5, 1, 32).expand(5, 16, 32).contiguous())
    assert rows[""][0]["value"] == pytest.approx(0, abs=1e-6)
    assert rows["with_first"][0]["value"] == pytest.approx(0, abs=1e-6)
    independent = value("rank_residual", "residual", gaussian(20, 17, 256))
    assert independent == pytest.approx(math.sqrt(1 - 1 / 16), abs=1e-3)


def test_it_is_the_frobenius_norm_of_what_the_mean_leaves(read, gaussian):
    stream = gaussian(6, 9, 5) + 1
    stream[:, 0] *= 30
    rows = read("rank_residual", "residual", stream)
    for component, shown in (("", stream[:, 1:]), ("with_first", stream)):
        shown = shown.double()
        shares = [(x - x.mean(0)).norm() / x.norm() for x in shown]
        assert rows[component][0]["value"] == pytest.approx(float(torch.stack(shares).mean()), rel=1e-5)
    assert rows[""][0]["n"] == 6


def test_scale_rotation_and_order_of_tokens_change_nothing(value, gaussian):
    stream = gaussian(3, 9, 5) + 1
    order = torch.tensor([0, 4, 2, 8, 6, 1, 3, 5, 7])
    turn = torch.linalg.qr(gaussian(5, 5, seed=1)).Q
    assert value("rank_residual", "residual", 40 * stream[:, order] @ turn) == pytest.approx(
        value("rank_residual", "residual", stream), rel=1e-5
    )


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (torch.zeros(3, 8, 4), "zero-output"),
        (torch.full((3, 8, 4), torch.nan), "nonfinite"),
        (torch.ones(3, 2, 4), "too-short"),
        (torch.ones(3, 1, 4), "too-short"),
    ],
)
def test_what_has_no_spread_says_why(status, stream, expected):
    assert status("rank_residual", "residual", stream) == expected
