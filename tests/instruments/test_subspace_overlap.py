"""TRA-05."""

import pytest
import torch


def walked(differences):
    """Nine positions, and the references of the last, the nearest first."""
    shape = differences.shape[1:]
    positions = torch.cat([torch.zeros(1, *shape, dtype=differences.dtype), differences]).cumsum(0)
    return positions[8], {f"previous-{k}": positions[8 - k] for k in range(1, 9)}


def test_the_same_space_is_one_and_orthogonal_spaces_are_none(value, gaussian):
    axes = torch.eye(60).view(60, 6, 10)
    mixing = gaussian(4, 4).double()
    same = torch.cat([axes[:4].double(), torch.einsum("ij,jab->iab", mixing, axes[:4].double())])
    here, there = walked(same)
    assert value("subspace_overlap", "matrix", here, there=there) == pytest.approx(1, abs=1e-6)
    here, there = walked(axes[:8])
    assert value("subspace_overlap", "matrix", here, there=there) == pytest.approx(0, abs=1e-6)


def test_random_spaces_overlap_by_chance(read, gaussian):
    found = []
    for seed in range(12):
        here, there = walked(gaussian(8, 16, 16, seed=seed))
        rows = read("subspace_overlap", "matrix", here, there=there)
        assert rows["chance"][0]["value"] == 4 / 256
        found.append(rows[""][0]["value"])
    assert sum(found) / 12 == pytest.approx(4 / 256, abs=0.005)


def test_a_shared_direction_shows_in_a_large_matrix_as_well(value, gaussian):
    steps = gaussian(8, 90, 90)
    steps[4:] = steps[:4] + 0.01 * gaussian(4, 90, 90, seed=1)
    here, there = walked(steps.double())
    assert value("subspace_overlap", "matrix", here, there=there) > 0.99


def test_a_line_has_no_four_directions(status, gaussian):
    here, there = walked(gaussian(1, 5, 5).double().repeat(8, 1, 1))
    assert status("subspace_overlap", "matrix", here, there=there) == "rank-deficient"


def test_a_rotation_changes_nothing(value, gaussian):
    steps, turn = gaussian(8, 7, 7).double(), torch.linalg.qr(gaussian(7, 7, seed=3).double()).Q
    plain, turned = (
        value("subspace_overlap", "matrix", here, there=there)
        for here, there in (walked(steps), walked(3 * steps @ turn))
    )
    assert turned == pytest.approx(plain, rel=1e-6)


def test_what_is_missing_or_broken_says_why(status, gaussian):
    here, there = walked(gaussian(8, 4, 4))
    assert status("subspace_overlap", "matrix", here, there={**there, "previous-7": None}) == "no-target"
    assert status("subspace_overlap", "matrix", here * torch.nan, there=there) == "nonfinite"
