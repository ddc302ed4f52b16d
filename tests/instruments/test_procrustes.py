"""SPE-09."""

import pytest
import torch


def stream(vectors):
    return torch.cat([torch.full((1, vectors.shape[1]), 1e4), vectors])[None]


def test_a_scaled_rotation_is_at_no_distance(read, gaussian):
    here = stream(gaussian(300, 24) + 2)
    there = 3 * here @ torch.linalg.qr(gaussian(24, 24, seed=1)).Q
    rows = read("procrustes", "residual", here, there=there)
    assert 0 <= rows[""][0]["value"] < 1e-6
    assert rows["similarity"][0]["value"] == pytest.approx(1, abs=1e-6)


def test_independent_representations(read, gaussian):
    rows = read(
        "procrustes", "residual", stream(gaussian(1024, 64)), there=stream(gaussian(1024, 64, seed=1))
    )
    assert rows[""][0]["value"] == pytest.approx(1.58, abs=0.01)
    assert rows["similarity"][0]["value"] == pytest.approx(1 - 1.58 / 2, abs=0.005)
    assert rows[""][0]["n"] == 1024


def test_widths_may_differ(value, gaussian):
    here = gaussian(300, 24)
    assert 0 < value("procrustes", "residual", stream(here), there=stream(here[:, :20])) < 0.3


@pytest.mark.parametrize(
    ("here", "expected"),
    [
        (torch.ones(1, 50, 3), "constant-input"),
        (torch.full((1, 50, 3), torch.nan), "nonfinite"),
        (torch.ones(1, 4, 3), "n-too-small"),
    ],
)
def test_what_has_no_shape_says_why(status, gaussian, here, expected):
    assert status("procrustes", "residual", here, there=gaussian(*here.shape)) == expected
    assert status("procrustes", "residual", gaussian(*here.shape), there=here) == expected
