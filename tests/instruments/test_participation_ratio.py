"""SPE-03."""

import pytest
import torch


def stream(vectors):
    """n vectors as one sequence, behind a position 0 that is left out and must not matter."""
    return torch.cat([torch.full((1, vectors.shape[1]), 1e6), vectors])[None]


@pytest.mark.parametrize(("n", "known"), [(4096, 63.0), (512, 56.8)])
def test_isotropic_data_read_what_their_number_allows(read, gaussian, n, known):
    rows = read("participation_ratio", "residual", stream(gaussian(n, 64)))
    assert rows[""][0]["value"] == pytest.approx(known, abs=0.3)
    assert rows["isotropic"][0]["value"] == pytest.approx(known, abs=0.05)
    assert rows[""][0]["n"] == rows["isotropic"][0]["n"] == n


def test_k_equal_variances_are_k(value):
    corners = torch.cat([torch.eye(12), -torch.eye(12)])[:, :5]
    assert value("participation_ratio", "residual", stream(corners)) == pytest.approx(5, rel=1e-9)


@pytest.mark.parametrize("shape", [(256, 256), (64, 256), (256, 64)])
def test_gaussian_weights_read_their_isotropic_value(read, gaussian, shape):
    rows = read("participation_ratio", "matrix", gaussian(*shape))
    few, many = min(shape), max(shape)
    assert rows[""][0]["value"] == pytest.approx(few / (1 + few / many), rel=0.02)
    assert rows[""][0]["value"] == pytest.approx(rows["isotropic"][0]["value"], rel=0.02)


def test_a_mean_a_scale_and_a_rotation_change_nothing(value, gaussian):
    vectors = gaussian(300, 16) * torch.linspace(0.2, 2, 16)
    turn = torch.linalg.qr(gaussian(16, 16, seed=1)).Q
    plain = value("participation_ratio", "residual", stream(vectors))
    assert value("participation_ratio", "residual", stream(30 * vectors @ turn + 100)) == pytest.approx(
        plain, rel=1e-4
    )
    assert 1 < plain < 16


def test_equal_vectors_have_no_variance_to_speak_of(status, gaussian):
    assert status("participation_ratio", "residual", stream(gaussian(1, 16).mul(1e3).repeat(50, 1))) == (
        "constant-input"
    )


@pytest.mark.parametrize(
    ("tensor", "expected"),
    [
        (torch.full((1, 9, 4), torch.nan), "nonfinite"),
        (torch.ones(1, 2, 4), "n-too-small"),
        (torch.zeros(2, 9, 4), "constant-input"),
    ],
)
def test_streams_without_variances_say_why(status, tensor, expected):
    assert status("participation_ratio", "residual", tensor) == expected


@pytest.mark.parametrize(
    ("tensor", "expected"), [(torch.zeros(4, 4), "zero-weight"), (torch.zeros(0, 4), "n-too-small")]
)
def test_matrices_without_variances_say_why(status, tensor, expected):
    assert status("participation_ratio", "matrix", tensor) == expected
