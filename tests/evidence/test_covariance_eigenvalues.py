"""Variances along principal directions."""

import pytest
import torch

from ontogeny.evidence.covariance_eigenvalues import of_residual, of_weight
from ontogeny.evidence.residual_gram import Gram
from ontogeny.vocabulary import Reading, Status


def test_of_a_stream_they_are_those_of_its_covariance(reduced, shown):
    stream = shown("residual")
    found = of_residual(reduced("residual_gram", "residual", stream))
    expected = torch.linalg.eigvalsh(stream[:, 1:].flatten(0, 1).double().T.cov()).flip(0)
    torch.testing.assert_close(found.values, expected)
    assert found.n == 6 * 19


@pytest.mark.parametrize("mean", [0.0, 3.0, 3e3])
def test_directions_without_variance_have_none_around_any_mean(reduced, mean):
    """The mean's rounding, 1e-16 of its square, is no variance, and no reason to refuse either."""
    rng = torch.Generator().manual_seed(0)
    stream = (
        torch.randn(60, 20, 5, generator=rng).double() @ torch.randn(5, 12, generator=rng).double()
    ) + mean
    found = of_residual(reduced("residual_gram", "residual", stream))
    assert not isinstance(found, Reading)
    assert not isinstance(found.values, Reading)
    assert found.values[:5].min() > 0.1
    assert found.values[5:].tolist() == [0.0] * 7
    expected = torch.linalg.eigvalsh(stream[:, 1:].flatten(0, 1).T.cov()).flip(0)[:5]
    torch.testing.assert_close(found.values[:5], expected, rtol=1e-7, atol=0)


def test_of_a_weight_they_are_squares_over_its_longer_side():
    weight = torch.randn(12, 5, generator=torch.Generator().manual_seed(0))
    values = torch.linalg.svdvals(weight.double())
    for oriented in (weight, weight.T):
        found = of_weight(values, oriented)
        torch.testing.assert_close(found.values, values.square())
        assert found.n == 12


def test_one_vector_and_equal_vectors_have_none():
    one = torch.arange(3.0).double()
    found = of_residual(Gram(torch.outer(one, one), one, 1))
    assert isinstance(found, Reading)
    assert found.status is Status.N_TOO_SMALL
    same = of_residual(Gram(50 * torch.outer(one, one), 50 * one, 50))
    assert isinstance(same, Reading)
    assert same.status is Status.CONSTANT_INPUT
