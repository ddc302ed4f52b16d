"""Lengths, position 0 apart."""

import torch


def test_sums_of_lengths(reduced, shown):
    stream = shown("residual")
    found = reduced("residual_norms", "residual", stream, batch=4)
    lengths = stream.double().norm(dim=-1)
    torch.testing.assert_close(found.total, lengths[:, 1:].sum(), rtol=1e-6, atol=0)
    torch.testing.assert_close(found.first, lengths[:, 0].sum(), rtol=1e-6, atol=0)
    assert (found.n, found.n_first) == (6 * 19, 6)


def test_half_precision_does_not_overflow(reduced):
    found = reduced("residual_norms", "residual", torch.full((2, 3, 4), 3e4).half())
    torch.testing.assert_close(found.total, torch.tensor(4 * 6e4).double(), rtol=1e-3, atol=0)
