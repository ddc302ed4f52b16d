"""Second moments of every head's output."""

import pytest
import torch


@pytest.mark.parametrize("batch", [1, 4, 1000])
def test_covariances_are_numpys_for_every_head(reduced, shown, batch):
    outputs = shown("head_output")
    found = reduced("head_gram", "head_output", outputs, batch)
    assert found.n == 6 * 19
    for head, covariance in enumerate(found.covariance()):
        vectors = outputs[:, 1:, head].flatten(0, 1).double()
        torch.testing.assert_close(covariance, vectors.mT.cov())
        torch.testing.assert_close(found.outer[head], vectors.mT @ vectors)


def test_a_large_constant_has_no_variance(reduced, shown):
    outputs = shown("head_output")
    outputs[:, :, 1] = 1e3
    outputs[:, :, 2, 0] = 7.7
    covariance = reduced("head_gram", "head_output", outputs).covariance()
    assert float(covariance[1].abs().max()) == 0
    assert float(covariance[2][0].abs().max()) == float(covariance[2][:, 0].abs().max()) == 0
    assert float(covariance[2][1:, 1:].diagonal().min()) > 0.5
