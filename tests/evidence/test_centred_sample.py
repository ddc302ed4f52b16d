"""The fixed sample made ready to be compared."""

import torch

from ontogeny.evidence.centred_sample import of_residual
from ontogeny.numerics.similarity import Items
from ontogeny.vocabulary import Reading, Status


def test_it_is_the_sample_less_its_mean_whatever_the_cut(reduced, shown):
    stream = shown("residual")
    whole, cut = (of_residual(reduced("residual_sample", "residual", stream, batch=b)) for b in (1000, 1))
    assert isinstance(whole, Items)
    vectors = stream[:, 1:].flatten(0, 1).double()
    torch.testing.assert_close(whole.values, vectors - vectors.mean(0))
    assert torch.equal(whole.values, cut.values)
    assert torch.equal(whole.hsic, cut.hsic)
    assert whole.used == 6 * 19


def test_a_broken_stream_says_so():
    found = of_residual(torch.full((20, 3), torch.nan))
    assert isinstance(found, Reading)
    assert found.status is Status.NONFINITE
