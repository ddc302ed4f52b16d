"""SPE-06."""

import math

import numpy as np
import pytest
import torch


def with_eigenvalues(eigenvalues, gaussian):
    """A square matrix whose squared singular values are these."""
    size = len(eigenvalues)
    left, right = (torch.linalg.qr(gaussian(size, size, seed=s).double()).Q for s in (1, 2))
    return left * eigenvalues.sqrt() @ right


def pareto(count, alpha):
    uniform = torch.rand(count, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    return (1 - uniform) ** (-1 / (alpha - 1))


def test_pareto_eigenvalues_have_their_exponent(read, gaussian):
    eigenvalues = pareto(400, 3.0)
    rows = read("weight_tail_exponent", "matrix", with_eigenvalues(eigenvalues, gaussian))
    sigma = rows["sigma"][0]["value"]
    assert rows[""][0]["value"] == pytest.approx(3.0, abs=3 * sigma)
    assert sigma == pytest.approx((rows[""][0]["value"] - 1) / math.sqrt(rows["tail"][0]["value"]))
    assert rows["distance"][0]["value"] < 0.1
    assert rows["not_power_law"][0]["value"] == 0
    largest = float(eigenvalues.max())
    assert rows["alpha_hat"][0]["value"] == pytest.approx(rows[""][0]["value"] * math.log10(largest))
    assert rows[""][0]["n"] == 400


def test_heavy_tailed_weights_lie_where_trained_ones_do(read):
    weight = torch.from_numpy(np.random.default_rng(1).standard_t(2, size=(512, 512)))
    rows = read("weight_tail_exponent", "matrix", weight)
    assert 2.3 <= rows[""][0]["value"] <= 2.6
    assert rows["not_power_law"][0]["value"] == 0


@pytest.mark.parametrize("seed", [0, 1])
def test_gaussian_weights_are_said_to_have_none(read, gaussian, seed):
    rows = read("weight_tail_exponent", "matrix", gaussian(256, 256, seed=seed))
    assert rows[""][0]["value"] > 4
    assert rows["distance"][0]["value"] > 0.1
    assert rows["not_power_law"][0]["value"] == 1


def test_rotation_and_transposition_change_nothing_and_scale_the_start_alone(read, gaussian):
    weight = torch.from_numpy(np.random.default_rng(0).standard_t(2, size=(64, 100)))
    turn = torch.linalg.qr(gaussian(64, 64).double()).Q
    plain, other = (
        {name: row[0]["value"] for name, row in read("weight_tail_exponent", "matrix", moved).items()}
        for moved in (weight, 100 * (turn @ weight).T)
    )
    for name in ("", "sigma", "distance", "tail", "not_power_law"):
        assert other[name] == pytest.approx(plain[name], rel=1e-9)
    assert other["lambda_min"] == pytest.approx(1e4 * plain["lambda_min"], rel=1e-9)


def test_small_matrices_use_the_corrected_estimator(read):
    weight = torch.from_numpy(np.random.default_rng(0).standard_t(2, size=(12, 40)))
    rows = read("weight_tail_exponent", "matrix", weight)
    eigenvalues = np.sort(np.linalg.svd(weight.numpy(), compute_uv=False) ** 2)
    tail = eigenvalues[-int(rows["tail"][0]["value"]) :]
    assert 8 <= len(tail) <= 12
    corrected = 1 + (len(tail) - 1) / np.log(tail / tail[0]).sum()
    assert rows[""][0]["value"] == pytest.approx(corrected)
    assert rows["not_power_law"][0]["value"] == 1


@pytest.mark.parametrize(
    ("weight", "expected"),
    [
        (torch.eye(64), "constant-input"),
        (torch.ones(7, 30).triu(), "n-too-small"),
        (torch.ones(64, 64), "n-too-small"),
        (torch.zeros(64, 64), "zero-weight"),
        (torch.full((64, 64), torch.nan), "nonfinite"),
        (torch.zeros(0, 4), "n-too-small"),
    ],
)
def test_what_has_no_tail_says_why(status, weight, expected):
    assert status("weight_tail_exponent", "matrix", weight) == expected
