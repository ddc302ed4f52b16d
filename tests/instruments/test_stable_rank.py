"""SPE-02."""

import pytest
import torch


def test_known_values(value, gaussian):
    assert value("stable_rank", "matrix", torch.linalg.qr(gaussian(32, 32)).Q) == pytest.approx(32, rel=1e-5)
    assert value("stable_rank", "matrix", gaussian(256, 256)) == pytest.approx(63.6, abs=2)
    assert value("stable_rank", "matrix", torch.outer(gaussian(16), gaussian(9))) == pytest.approx(
        1, abs=1e-5
    )
    tall = 512 * 128 / (512**0.5 + 128**0.5) ** 2
    assert value("stable_rank", "matrix", gaussian(512, 128)) == pytest.approx(tall, rel=0.05)


def test_scale_and_rotation_change_nothing(value, gaussian):
    matrix, turn = gaussian(20, 12), torch.linalg.qr(gaussian(12, 12, seed=1)).Q
    assert value("stable_rank", "matrix", 1e8 * matrix @ turn) == pytest.approx(
        value("stable_rank", "matrix", matrix), rel=1e-5
    )


def test_one_outlier_hides_everything_else(value, gaussian):
    matrix = gaussian(64, 64)
    matrix[0, 0] = 1e4
    assert value("stable_rank", "matrix", matrix) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize(
    ("matrix", "expected"),
    [
        (torch.zeros(4, 4), "zero-weight"),
        (torch.full((4, 4), torch.nan), "nonfinite"),
        (torch.zeros(4, 0), "n-too-small"),
    ],
)
def test_what_has_no_rank_says_why(status, matrix, expected):
    assert status("stable_rank", "matrix", matrix) == expected
