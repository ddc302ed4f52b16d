"""Eigenvalues and moments of what thin matrices make of one another."""

import math

import pytest
import torch

from ontogeny.numerics.head_circuits import eigenvalues, product_moments
from ontogeny.vocabulary import Reading, Status


@pytest.fixture
def rng() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def test_a_rotation_turns_by_its_angle():
    turn = torch.tensor([[math.cos(0.3), -math.sin(0.3)], [math.sin(0.3), math.cos(0.3)]])
    found = eigenvalues(turn)
    assert sorted(found.imag.tolist()) == pytest.approx([-math.sin(0.3), math.sin(0.3)])
    assert found.real.tolist() == pytest.approx([math.cos(0.3)] * 2)


def test_a_triangular_matrix_has_its_diagonal(rng):
    matrix = torch.randn(6, 6, generator=rng, dtype=torch.float64).triu()
    assert sorted(eigenvalues(matrix).real.tolist()) == pytest.approx(sorted(matrix.diagonal().tolist()))


@pytest.mark.parametrize(
    ("matrix", "status"),
    [
        (torch.zeros(0, 0), Status.N_TOO_SMALL),
        (torch.full((3, 3), math.nan), Status.NONFINITE),
        (torch.full((3, 3), math.inf), Status.NONFINITE),
    ],
)
def test_what_has_no_eigenvalues_says_why(matrix, status):
    found = eigenvalues(matrix)
    assert isinstance(found, Reading)
    assert found.status is status


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_moments_are_those_of_the_wide_product(rng, scale):
    left, right = (scale * torch.randn(5, 23, generator=rng, dtype=torch.float64) for _ in range(2))
    squares = torch.linalg.svdvals(left.mT / scale @ right / scale)[:5].square()
    first, second = product_moments(left, right)
    assert float(first**2 / second) == pytest.approx(float(squares.sum() ** 2 / squares.square().sum()))


def test_orthonormal_rows_count_themselves_twice():
    rows = torch.linalg.qr(torch.randn(9, 4, generator=torch.Generator().manual_seed(0))).Q.mT.double()
    largest = float(rows.abs().max())
    first, second = product_moments(rows, rows)
    assert float(first) * largest**4 == pytest.approx(4, rel=1e-6)
    assert float(second) * largest**8 == pytest.approx(4, rel=1e-6)


def test_nothing_stays_nothing():
    assert [float(moment) for moment in product_moments(torch.zeros(2, 5), torch.ones(2, 5))] == [0, 0]
