"""SPE-08."""

import pytest
import torch


def stream(vectors):
    return torch.cat([torch.full((1, vectors.shape[1]), 1e4), vectors])[None]


def test_an_invertible_map_changes_nothing_in_either_direction(read, gaussian):
    here = gaussian(640, 32)
    there = here @ (torch.eye(32) + 0.2 * gaussian(32, 32, seed=1))
    rows = read("pwcca", "residual", stream(here), there=stream(there))
    assert rows[""][0]["value"] == pytest.approx(1, abs=1e-5)
    assert rows["reverse"][0]["value"] == pytest.approx(1, abs=1e-5)
    assert rows["kept"][0]["value"] == 32


@pytest.mark.parametrize("share", [0.5, 0.99, 1.0])
def test_f76_a_view_is_itself_under_every_setting(read, gaussian, share):
    here = stream(gaussian(640, 30) * torch.linspace(0.01, 2, 30))
    rows = read("pwcca", "residual", here, parameters={"share": share})
    for name in ("", "reverse"):
        assert rows[name][0]["value"] == pytest.approx(1, abs=1e-9)
        assert rows[name][0]["value"] <= 1 + 1e-12


def test_the_two_directions_differ_and_change_places(read, gaussian):
    here = gaussian(640, 8) * torch.tensor([9.0, 9, 1, 1, 1, 1, 1, 1])
    there = gaussian(640, 8, seed=1)
    there[:, :2] += 3 * here[:, :2] / 9
    one = read("pwcca", "residual", stream(here), there=stream(there))
    other = read("pwcca", "residual", stream(there), there=stream(here))
    assert one[""][0]["value"] == pytest.approx(other["reverse"][0]["value"], rel=1e-6)
    assert one["reverse"][0]["value"] == pytest.approx(other[""][0]["value"], rel=1e-6)
    assert one[""][0]["value"] > one["reverse"][0]["value"] + 0.05, "what is shared carries most of one side"


def test_rotation_and_scale_change_nothing(read, gaussian):
    """Of the other side; this side's features weigh the variates, so that a rotation of them counts."""
    here, there = gaussian(640, 8), gaussian(640, 8, seed=1)
    there[:, :4] += here[:, :4]
    turn = torch.linalg.qr(gaussian(8, 8, seed=2)).Q
    plain = read("pwcca", "residual", stream(here), there=stream(there))[""][0]["value"]
    moved = read("pwcca", "residual", stream(7 * here), there=stream(0.1 * there @ turn))[""][0]["value"]
    assert moved == pytest.approx(plain, rel=1e-4)


def test_f75_too_few_tokens_have_a_status_and_a_remedy(read, gaussian):
    rows = read("pwcca", "residual", stream(gaussian(300, 64)), there=stream(gaussian(300, 64, seed=1)))
    assert {rows[name][0]["status"] for name in ("", "reverse")} == {"n-too-small"}
    assert "cka" in rows[""][0]["reason"]
    rows = read("pwcca", "residual", stream(gaussian(64, 64)))
    assert rows[""][0]["status"] == "rank-deficient"


@pytest.mark.parametrize(
    ("here", "expected"),
    [(torch.ones(1, 50, 3), "constant-input"), (torch.full((1, 50, 3), torch.nan), "nonfinite")],
)
def test_what_has_no_directions_says_why(status, gaussian, here, expected):
    assert status("pwcca", "residual", here, there=gaussian(1, 50, 3)) == expected
    assert status("pwcca", "residual", gaussian(1, 50, 3), there=here) == expected
