"""Second moments, position 0 left out."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ontogeny.evidence.residual_gram import Gram


def gram_of(vectors: torch.Tensor) -> Gram:
    vectors = vectors.double()
    return Gram(vectors.T @ vectors, vectors.sum(0), len(vectors))


def test_moments_of_all_vectors_but_the_first(reduced, shown):
    stream = shown("residual")
    found = reduced("residual_gram", "residual", stream, batch=4)
    vectors = stream[:, 1:].flatten(0, 1).double()
    assert found.n == 6 * 19
    torch.testing.assert_close(found.outer, vectors.T @ vectors)
    torch.testing.assert_close(found.total, vectors.sum(0))
    torch.testing.assert_close(found.covariance(), vectors.T.cov())


@given(mean=st.sampled_from([0.0, 1.0, 1e3, 1e5]), seed=st.integers(0, 20))
def test_a_large_mean_costs_no_more_than_its_digits(mean, seed):
    vectors = torch.randn(200, 5, generator=torch.Generator().manual_seed(seed)).double()
    found = gram_of(vectors + mean).covariance()
    torch.testing.assert_close(found, vectors.T.cov(), rtol=1e-4, atol=1e-4)


def test_features_without_spread_have_exact_zeros():
    vectors = torch.randn(50, 4, generator=torch.Generator().manual_seed(0))
    vectors[:, 1], vectors[:, 3] = 1e4 / 3, 0
    found = gram_of(vectors).covariance()
    assert (found[[1, 3]] == 0).all()
    assert (found[:, [1, 3]] == 0).all()
    assert (found[[0, 2]][:, [0, 2]].diagonal() > 0.5).all()


def test_a_small_spread_on_a_moderate_mean_is_not_taken_for_none():
    vectors = 100 + 1e-3 * torch.randn(400, 3, generator=torch.Generator().manual_seed(0)).double()
    assert gram_of(vectors).covariance().diagonal() == pytest.approx([1e-6] * 3, rel=0.2)


def test_what_is_not_finite_stays_so():
    vectors = torch.randn(50, 3)
    vectors[3, 1] = torch.nan
    assert gram_of(vectors).covariance()[1, 1].isnan()
