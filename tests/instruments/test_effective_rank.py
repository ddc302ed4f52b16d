"""SPE-01: known values, scale and rotation, and what has no rank."""

import pytest
import torch


def test_known_values_of_matrices(value, gaussian):
    assert value("effective_rank", "matrix", torch.eye(24)) == pytest.approx(24, rel=1e-12)
    assert value("effective_rank", "matrix", torch.outer(gaussian(16), gaussian(9))) == pytest.approx(
        1, abs=1e-4
    )
    assert value("effective_rank", "matrix", gaussian(256, 256)) / 256 == pytest.approx(0.80, abs=0.01)
    assert value("effective_rank", "matrix", gaussian(1024, 256)) / 256 == pytest.approx(0.97, abs=0.01)


@pytest.mark.parametrize(("rows", "known"), [(256, 0.60), (1024, 0.88)])
def test_squared_singular_values_are_another_choice_with_rows_of_its_own(read, gaussian, rows, known):
    (row,) = read("effective_rank", "matrix", gaussian(rows, 256), parameters={"ev": True})[""]
    assert row["value"] / 256 == pytest.approx(known, abs=0.01)
    assert row["settings"] == "ev=True"


def test_scale_and_rotation_change_nothing(value, gaussian):
    matrix, turn = gaussian(20, 12), torch.linalg.qr(gaussian(20, 20, seed=1)).Q
    assert value("effective_rank", "matrix", 1e-6 * turn @ matrix) == pytest.approx(
        value("effective_rank", "matrix", matrix), rel=1e-5
    )


def test_a_stream_is_the_matrix_of_its_vectors_but_the_first(value, gaussian):
    stream = gaussian(6, 9, 8)
    stream[:, 0] *= 1000
    vectors = stream[:, 1:].flatten(0, 1)
    assert value("effective_rank", "residual", stream) == pytest.approx(
        value("effective_rank", "matrix", vectors), rel=1e-6
    )


def test_one_shared_direction_is_one(value, gaussian):
    stream = gaussian(4, 8, 1) * gaussian(16, seed=2)
    assert value("effective_rank", "residual", stream) == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize(
    ("matrix", "expected"),
    [
        (torch.zeros(4, 4), "zero-weight"),
        (torch.full((4, 4), torch.nan), "nonfinite"),
        (torch.tensor([[1.0, torch.inf]]), "nonfinite"),
        (torch.zeros(0, 4), "n-too-small"),
    ],
)
def test_what_has_no_rank_says_why(status, matrix, expected):
    assert status("effective_rank", "matrix", matrix) == expected


def test_a_zero_or_broken_stream_says_why(status):
    assert status("effective_rank", "residual", torch.zeros(4, 8, 3)) == "zero-weight"
    assert status("effective_rank", "residual", torch.full((4, 8, 3), torch.nan)) == "nonfinite"
