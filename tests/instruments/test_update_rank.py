"""TRA-05."""

import pytest
import torch


def before(positions):
    """References of the last of nine positions, the nearest first."""
    return {f"previous-{k}": positions[8 - k] for k in range(1, 9)}


def test_a_line_is_one_direction(read, gaussian):
    start, step = gaussian(20, 12), gaussian(20, 12, seed=1)
    line = [start + k**1.3 * step for k in range(9)]
    rows = read("update_rank", "matrix", line[8], there=before(line))
    assert rows[""][0]["value"] == 1
    assert rows["effective"][0]["value"] == pytest.approx(1, abs=1e-4)
    assert rows[""][0]["n"] == 8


def test_orthogonal_updates_are_all_of_them(read):
    steps = torch.eye(48)[:8].view(8, 6, 8)
    positions = list(torch.cat([torch.zeros(1, 6, 8), steps]).cumsum(0))
    rows = read("update_rank", "matrix", positions[8], there=before(positions))
    assert rows[""][0]["value"] == 8
    assert rows["effective"][0]["value"] == pytest.approx(8)


def test_two_directions_are_two_in_a_large_matrix_and_in_all_parameters(read, gaussian):
    one, other = gaussian(90, 90), gaussian(90, 90, seed=1)
    positions = [(k // 2 + k % 2) * one + (k // 2) * other for k in range(9)]
    rows = read("update_rank", "matrix", positions[8], there=before(positions))
    assert rows[""][0]["value"] == 2
    assert rows["effective"][0]["value"] == pytest.approx(2, abs=0.02), "CountSketch keeps it to 2 %"
    named = [{"w": position, "bias": position[0]} for position in positions]
    rows = read("update_rank", "model", named[8], there=before(named))
    assert rows[""][0]["value"] == 2


def test_a_series_that_has_just_begun_has_none(read, gaussian):
    positions = list(gaussian(9, 4, 4))
    rows = read("update_rank", "matrix", positions[8], there={**before(positions), "previous-8": None})
    assert {rows[name][0]["status"] for name in ("", "effective")} == {"no-target"}


@pytest.mark.parametrize(("scale", "expected"), [(0.0, "constant-input"), (float("nan"), "nonfinite")])
def test_what_did_not_move_or_broke_says_why(status, gaussian, scale, expected):
    positions = list(scale * gaussian(9, 4, 4))
    assert status("update_rank", "matrix", positions[8], there=before(positions)) == expected
