"""SPE-05."""

import pytest
import torch


def stream(vectors):
    return torch.cat([torch.full((1, vectors.shape[1]), 1e4), vectors])[None]


def with_variances(eigenvalues, gaussian, n=2000):
    """Centred vectors whose sample covariance has exactly these eigenvalues."""
    white = gaussian(n, len(eigenvalues)).double()
    white -= white.mean(0)
    return torch.linalg.qr(white).Q * (eigenvalues * (n - 1)).sqrt()


def test_an_exact_law_comes_out(read, gaussian):
    eigenvalues = torch.arange(1.0, 121, dtype=torch.float64) ** -1.5
    rows = read("alpha_req", "residual", stream(with_variances(eigenvalues, gaussian)))
    assert rows[""][0]["value"] == pytest.approx(1.5, abs=1e-4)
    assert rows["r_squared"][0]["value"] == pytest.approx(1, abs=1e-4)
    assert rows["points"][0]["value"] == 90
    assert rows[""][0]["n"] == 2000


def test_white_data_is_almost_flat(value, gaussian):
    """As in the public package, whose own test reads 0.148936 for its seed."""
    assert value("alpha_req", "residual", stream(gaussian(1000, 1024))) == pytest.approx(0.15, abs=0.01)


def test_narrow_streams_use_the_ranks_they_have(read, gaussian):
    eigenvalues = torch.arange(1.0, 65, dtype=torch.float64) ** -1.0
    rows = read("alpha_req", "residual", stream(with_variances(eigenvalues, gaussian, 800)))
    assert rows[""][0]["value"] == pytest.approx(1, abs=1e-4)
    assert rows["points"][0]["value"] == 44


def test_a_mean_a_scale_and_a_rotation_change_nothing(value, gaussian):
    vectors = gaussian(800, 48) * torch.arange(1.0, 49) ** -0.5
    turn = torch.linalg.qr(gaussian(48, 48, seed=1)).Q
    plain = value("alpha_req", "residual", stream(vectors))
    moved = value("alpha_req", "residual", stream(30 * vectors @ turn + 10))
    assert moved == pytest.approx(plain, rel=1e-3)


@pytest.mark.parametrize(
    ("shape", "scale", "expected"),
    [
        ((400, 39), 1.0, "n-too-small"),
        ((20, 128), 1.0, "rank-deficient"),
        ((200, 64), 0.0, "constant-input"),
        ((200, 64), float("nan"), "nonfinite"),
    ],
)
def test_what_has_no_slope_says_why(status, gaussian, shape, scale, expected):
    assert status("alpha_req", "residual", stream(scale * gaussian(*shape))) == expected
