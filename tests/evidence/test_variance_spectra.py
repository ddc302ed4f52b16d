"""Variances along principal directions, by what they are of."""

import torch

from ontogeny.evidence.covariance_eigenvalues import Variances
from ontogeny.evidence.variance_spectra import of_neurons, of_residual, variances_of
from ontogeny.vocabulary import Reading, Status


def sample(items, features, seed=0):
    return torch.randn(items, features, generator=torch.Generator().manual_seed(seed))


def test_they_are_those_of_the_unbiased_covariance():
    neurons = sample(50, 7) * torch.arange(1.0, 8) + 30
    found = variances_of(neurons)
    assert isinstance(found, Variances)
    torch.testing.assert_close(found.values, torch.linalg.eigvalsh(neurons.double().T.cov()).flip(0))
    assert found.n == 50


def test_before_and_after_are_told_apart_and_one_may_be_undefined():
    before, after = sample(50, 7), torch.zeros(50, 7)
    found = of_neurons(after, before)
    assert isinstance(found["preactivation"], Variances)
    assert isinstance(found["activation"], Reading)
    assert found["activation"].status is Status.CONSTANT_INPUT
    assert of_residual(found["preactivation"]) == {"": found["preactivation"]}


def test_fewer_tokens_than_features_have_none():
    found = variances_of(sample(6, 7))
    assert isinstance(found, Reading)
    assert found.status is Status.N_TOO_SMALL
    assert isinstance(variances_of(sample(7, 7)), Variances)
    assert isinstance(variances_of(sample(1, 1)), Reading)
    assert isinstance(variances_of(sample(0, 1)), Reading)


def test_values_that_are_not_finite_are_named():
    broken = sample(50, 7)
    broken[3, 2] = torch.inf
    found = variances_of(broken)
    assert isinstance(found, Variances)
    assert isinstance(found.values, Reading)
    assert found.values.status is Status.NONFINITE
