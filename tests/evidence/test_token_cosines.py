"""Mean cosines without forming the pairs."""

import torch
from torch.nn import functional as F


def test_they_are_the_means_over_pairs(reduced, shown):
    stream = shown("residual").double()
    found = reduced("token_cosines", "residual", stream.float(), batch=4)
    for start, total in ((0, found.with_first), (1, found.without_first)):
        vectors = F.normalize(stream[:, start:], dim=-1)
        pairs = vectors @ vectors.mT
        count = 20 - start
        expected = (pairs.sum((1, 2)) - count) / (count * (count - 1))
        torch.testing.assert_close(total, expected.sum(), rtol=1e-4, atol=1e-5)
    assert (found.sequences, found.length, int(found.zeros)) == (6, 20, 0)


def test_vectors_of_no_direction_are_counted(reduced, shown):
    stream = shown("residual")
    stream[2, 3:5] = 0
    found = reduced("token_cosines", "residual", stream, batch=1)
    assert int(found.zeros) == 2
    assert found.without_first.isfinite()
