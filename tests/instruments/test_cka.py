"""SPE-07."""

import pytest
import torch


def test_a_scaled_rotation_is_the_same_geometry(value, gaussian):
    here = gaussian(32, 33, 24)
    there = 7 * here @ torch.linalg.qr(gaussian(24, 24, seed=1)).Q
    assert value("cka", "residual", here, there=there) == pytest.approx(1, abs=1e-6)
    assert value("cka", "residual", here, there=there, component="biased") == pytest.approx(1, abs=1e-6)


def test_independent_gaussians(read, gaussian):
    rows = read("cka", "residual", gaussian(1, 257, 256), there=gaussian(1, 257, 256, seed=1))
    assert rows[""][0]["value"] == pytest.approx(0, abs=0.01)
    assert rows["biased"][0]["value"] == pytest.approx(0.50, abs=0.01)
    assert rows[""][0]["n"] == 256


def test_few_items_bias_the_plain_form_only(read, gaussian):
    rows = read("cka", "residual", gaussian(1, 65, 256), there=gaussian(1, 65, 256, seed=1))
    assert rows["biased"][0]["value"] == pytest.approx(0.80, abs=0.02)
    assert rows[""][0]["value"] == pytest.approx(0, abs=0.03)


def test_position_zero_is_left_out(value, gaussian):
    here = gaussian(8, 40, 16)
    there = here.clone()
    there[:, 0] = 1e5 * gaussian(8, 16, seed=3)
    assert value("cka", "residual", here, there=there) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize(
    ("here", "expected"),
    [
        (torch.ones(4, 9, 3), "constant-input"),
        (torch.full((4, 9, 3), torch.nan), "nonfinite"),
        (torch.ones(1, 4, 3), "n-too-small"),
    ],
)
def test_what_cannot_be_compared_says_why(status, gaussian, here, expected):
    assert status("cka", "residual", here, there=gaussian(*here.shape)) == expected
    assert status("cka", "residual", gaussian(*here.shape), there=here) == expected
