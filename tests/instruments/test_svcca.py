"""SPE-08."""

import pytest
import torch


def stream(vectors):
    return torch.cat([torch.full((1, vectors.shape[1]), 1e4), vectors])[None]


def test_a_view_is_itself_and_its_rotation(read, gaussian):
    here = stream(gaussian(640, 30) * torch.linspace(0.01, 2, 30))
    turn = torch.linalg.qr(gaussian(30, 30, seed=1)).Q
    for there in (here, 5 * here @ turn):
        rows = read("svcca", "residual", here, there=there)
        assert rows[""][0]["value"] == pytest.approx(1, abs=1e-6)
        assert rows[""][0]["value"] <= 1


@pytest.mark.parametrize("share", [0.5, 0.9, 0.99, 1.0])
def test_f76_a_view_is_itself_under_every_setting(read, gaussian, share):
    here = stream(gaussian(640, 30) * torch.linspace(0.01, 2, 30))
    rows = read("svcca", "residual", here, parameters={"share": share})
    assert rows[""][0]["value"] == pytest.approx(1, abs=1e-9)


def test_independent_views_agree_by_chance(read, gaussian):
    here, there = stream(gaussian(640, 64)), stream(gaussian(640, 64, seed=1))
    rows = read("svcca", "residual", here, there=there, parameters={"share": 1.0})
    assert rows[""][0]["value"] == pytest.approx(0.27, abs=0.01)
    assert rows["squared"][0]["value"] == pytest.approx(0.099, abs=0.005)
    assert rows["chance"][0]["value"] == pytest.approx(64 / 639)
    assert rows[""][0]["n"] == 640


def test_directions_without_variance_are_left_out(read, gaussian):
    strong = gaussian(640, 5)
    here = torch.cat([strong, 1e-3 * gaussian(640, 40, seed=1)], 1)
    there = torch.cat([strong, 1e-3 * gaussian(640, 40, seed=2)], 1)
    rows = read("svcca", "residual", stream(here), there=stream(there))
    assert rows["kept"][0]["value"] == rows["kept_there"][0]["value"] == 5
    assert rows[""][0]["value"] > 0.999


def test_f75_too_few_tokens_have_a_status_and_a_remedy(read, gaussian):
    (row,) = read("svcca", "residual", stream(gaussian(300, 64)), there=stream(gaussian(300, 64, seed=1)))[""]
    assert row["status"] == "n-too-small"
    assert "cka" in row["reason"]
    (row,) = read("svcca", "residual", stream(gaussian(40, 64)), parameters={"share": 1.0})[""]
    assert row["status"] == "rank-deficient"


@pytest.mark.parametrize(
    ("here", "expected"),
    [(torch.ones(1, 50, 3), "constant-input"), (torch.full((1, 50, 3), torch.nan), "nonfinite")],
)
def test_what_has_no_directions_says_why(status, gaussian, here, expected):
    assert status("svcca", "residual", here, there=gaussian(1, 50, 3)) == expected
    assert status("svcca", "residual", gaussian(1, 50, 3), there=here) == expected
