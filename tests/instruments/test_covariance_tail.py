"""SPE-10."""

import pytest
import torch


def with_variances(eigenvalues, gaussian, n):
    white = gaussian(n, len(eigenvalues)).double()
    white -= white.mean(0)
    turn = torch.linalg.qr(gaussian(len(eigenvalues), len(eigenvalues), seed=5).double()).Q
    return (torch.linalg.qr(white).Q * (eigenvalues * (n - 1)).sqrt() @ turn).float()


def stream(vectors, first, sequences=20):
    """The vectors behind a position 0 of its own in every sequence."""
    parts = vectors.view(sequences, -1, vectors.shape[1])
    return torch.cat([first.expand(sequences, 1, -1), parts], 1)


def test_an_exact_law_of_ranks_reads_its_slope_and_its_density(read, gaussian):
    eigenvalues = torch.arange(1.0, 121, dtype=torch.float64) ** -1.0
    rows = read(
        "covariance_tail", "residual", stream(with_variances(eigenvalues, gaussian, 2000), torch.zeros(120))
    )
    assert rows["slope"][0]["value"] == pytest.approx(1, abs=1e-3)
    assert rows[""][0]["value"] == pytest.approx(2, abs=0.15)
    assert rows[""][0]["value"] == pytest.approx(1 + 1 / rows["slope"][0]["value"], abs=0.15)
    assert rows["not_power_law"][0]["value"] == 0
    assert rows[""][0]["n"] == 2000


def test_white_data_is_no_power_law(read, gaussian):
    rows = read("covariance_tail", "residual", stream(gaussian(2000, 100), torch.zeros(100)))
    assert rows["not_power_law"][0]["value"] == 1
    assert rows[""][0]["value"] > 4


def test_position_zero_is_in_one_of_them_only(read, gaussian):
    """A huge first vector is one direction more; the two values with it are those of all vectors."""
    vectors = with_variances(torch.arange(1.0, 61, dtype=torch.float64) ** -1.0, gaussian, 1200)
    plain = read("covariance_tail", "residual", stream(vectors, torch.zeros(60)))
    first = 1e3 * gaussian(60, seed=8)
    shown = stream(vectors, first)
    rows = read("covariance_tail", "residual", shown)
    for name in ("", "slope", "not_power_law"):
        assert rows[name][0]["value"] == pytest.approx(plain[name][0]["value"], rel=1e-9)
    everything = shown.flatten(0, 1)
    alone = torch.cat([torch.zeros(1, 60), everything])[None]
    for name in ("", "slope"):
        named = "_".join(filter(None, ("with_first", name)))
        whole = read("covariance_tail", "residual", alone)[name][0]["value"]
        assert rows[named][0]["value"] == pytest.approx(whole, rel=1e-6)
    assert rows["with_first"][0]["n"] == 1220


def test_massive_dimensions_are_out_of_one_of_them_only(read, gaussian):
    vectors = with_variances(torch.arange(1.0, 61, dtype=torch.float64) ** -1.0, gaussian, 1200)
    massive = vectors.clone()
    massive[:, 17] = 1e4 + gaussian(1200, seed=3)
    rows = read("covariance_tail", "residual", stream(massive, torch.zeros(60)))
    assert rows["massive_dimensions"][0]["value"] == 1
    kept = torch.cat([massive[:, :17], massive[:, 18:]], 1)
    expected = read("covariance_tail", "residual", stream(kept, torch.zeros(59)))
    for name in ("", "slope"):
        named = "_".join(filter(None, ("without_massive", name)))
        assert rows[named][0]["value"] == pytest.approx(expected[name][0]["value"], rel=1e-6)
    assert rows[""][0]["value"] != pytest.approx(rows["without_massive"][0]["value"], rel=1e-6)


def test_without_massive_dimensions_nothing_is_left_out(read, gaussian):
    rows = read("covariance_tail", "residual", stream(gaussian(800, 40), torch.zeros(40)))
    assert rows["massive_dimensions"][0]["value"] == 0
    assert rows["without_massive"][0]["value"] == rows[""][0]["value"]


def test_narrow_streams_have_a_density_and_no_slope(read, gaussian):
    rows = read("covariance_tail", "residual", stream(gaussian(400, 16), torch.zeros(16)))
    assert rows[""][0]["status"] == "ok"
    assert rows["slope"][0]["status"] == "n-too-small"


def test_scale_rotation_and_mean_change_nothing(read, gaussian):
    vectors = gaussian(800, 40) * torch.arange(1.0, 41) ** -0.5
    turn = torch.linalg.qr(gaussian(40, 40, seed=1)).Q
    rows, moved = (
        read("covariance_tail", "residual", stream(shown, torch.zeros(40)))
        for shown in (vectors, 30 * vectors @ turn + 2)
    )
    for name in ("", "slope", "without_massive"):
        assert moved[name][0]["value"] == pytest.approx(rows[name][0]["value"], rel=1e-3)


@pytest.mark.parametrize(
    ("vectors", "expected"),
    [
        (torch.randn(380, 40, generator=torch.Generator().manual_seed(0)), "n-too-small"),
        (torch.ones(400, 40), "constant-input"),
        (torch.full((400, 40), torch.nan), "nonfinite"),
    ],
)
def test_what_has_no_tail_says_why(status, vectors, expected):
    assert status("covariance_tail", "residual", stream(vectors, torch.ones(40))) == expected
