"""SPE-04."""

import pytest
import torch


def stream(vectors):
    """n vectors as one sequence, behind a position 0 that is left out and must not matter."""
    return torch.cat([torch.full((1, vectors.shape[1]), 1e4), vectors])[None]


def test_orthonormal_columns_are_all_directions(read, gaussian):
    columns = torch.linalg.qr(gaussian(400, 24).double()).Q.float()
    (row,) = read("rankme", "residual", stream(columns))[""]
    assert row["value"] == pytest.approx(24, rel=1e-4)
    assert row["n"] == 400


def test_equal_rows_are_one_direction(value, gaussian):
    assert value("rankme", "residual", stream(gaussian(1, 16).repeat(200, 1))) == pytest.approx(1, abs=1e-3)


def test_it_is_what_the_paper_writes_down(value, gaussian):
    vectors = gaussian(600, 20) * torch.linspace(0.1, 2, 20) + 0.3
    sigma = torch.linalg.svdvals(vectors.double())
    share = sigma / sigma.sum() + 1e-7
    expected = float((-share * share.log()).sum().exp())
    assert value("rankme", "residual", stream(vectors)) == pytest.approx(expected, rel=1e-6)


def test_the_other_variant_takes_centred_squares_and_is_lower(read, value, gaussian):
    vectors = gaussian(600, 20) * torch.linspace(0.1, 2, 20) + 5
    eigenvalues = torch.linalg.eigvalsh(vectors.double().T.cov())
    share = eigenvalues / eigenvalues.sum() + 1e-7
    expected = float((-share * share.log()).sum().exp())
    (row,) = read("rankme", "residual", stream(vectors), parameters={"variant": "cov"})[""]
    assert row["value"] == pytest.approx(expected, rel=1e-6)
    assert row["settings"] == "variant='cov'"
    centred = vectors - vectors.mean(0)
    assert row["value"] < value("rankme", "residual", stream(centred))


def test_scale_and_rotation_change_nothing(value, gaussian):
    vectors, turn = gaussian(300, 12) * torch.linspace(1, 3, 12), torch.linalg.qr(gaussian(12, 12, seed=1)).Q
    plain = value("rankme", "residual", stream(vectors))
    assert value("rankme", "residual", stream(20 * vectors @ turn)) == pytest.approx(plain, rel=1e-5)


@pytest.mark.parametrize(
    ("vectors", "expected"),
    [
        (torch.randn(119, 12, generator=torch.Generator().manual_seed(0)), "n-too-small"),
        (torch.zeros(200, 12), "zero-weight"),
        (torch.full((200, 12), torch.nan), "nonfinite"),
    ],
)
def test_what_has_no_rank_says_why(status, vectors, expected):
    first = torch.zeros(1, 12)
    assert status("rankme", "residual", torch.cat([first, vectors])[None]) == expected


def test_equal_rows_have_no_variances(read):
    rows = read("rankme", "residual", torch.ones(1, 300, 8), parameters={"variant": "cov"})
    assert rows[""][0]["status"] == "constant-input"
