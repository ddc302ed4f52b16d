"""ACT-05."""

import pytest
import torch
from torch.nn import functional as F


def test_vectors_of_one_length(read, gaussian):
    stream = 3 * F.normalize(gaussian(4, 9, 16), dim=-1)
    stream[:, 0] *= 50
    rows = read("residual_norm", "residual", stream)
    assert rows[""][0]["value"] == pytest.approx(3, rel=1e-6)
    assert rows["first"][0]["value"] == pytest.approx(150, rel=1e-6)
    assert (rows[""][0]["n"], rows["first"][0]["n"]) == (32, 4)


def test_independent_unit_variance_writes_grow_as_a_root(value, gaussian):
    writes = gaussian(9, 8, 33, 256)
    norms = [value("residual_norm", "residual", writes[: layer + 1].sum(0)) for layer in (0, 3, 8)]
    assert norms[1] / norms[0] == pytest.approx(2, rel=0.01)
    assert norms[2] / norms[0] == pytest.approx(3, rel=0.01)


def test_a_rotation_changes_nothing_and_a_scale_scales(value, gaussian):
    stream, turn = gaussian(4, 9, 16), torch.linalg.qr(gaussian(16, 16, seed=1)).Q
    plain = value("residual_norm", "residual", stream)
    assert value("residual_norm", "residual", 5 * stream @ turn) == pytest.approx(5 * plain, rel=1e-5)


def test_zero_is_a_length_but_nothing_is_none(value, status):
    assert value("residual_norm", "residual", torch.zeros(2, 4, 8)) == 0
    assert status("residual_norm", "residual", torch.ones(2, 1, 8)) == "too-short"
    assert status("residual_norm", "residual", torch.full((2, 4, 8), torch.nan)) == "nonfinite"
