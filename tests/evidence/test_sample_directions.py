"""The directions that a sample varies along."""

import torch

from ontogeny.evidence.centred_sample import of_residual as centred
from ontogeny.evidence.sample_directions import of_residual
from ontogeny.vocabulary import Reading, Status


def test_they_rebuild_the_centred_sample(reduced, shown):
    items = centred(reduced("residual_sample", "residual", shown("residual")))
    found = of_residual(items)
    left, values, right = found.factors
    torch.testing.assert_close(left * values @ right, items.values)
    torch.testing.assert_close(left.mT @ left, torch.eye(8, dtype=torch.float64))
    assert (found.items, found.features) == (6 * 19, 8)


def test_equal_vectors_have_none():
    found = of_residual(centred(torch.ones(20, 3)))
    assert isinstance(found, Reading)
    assert found.status is Status.CONSTANT_INPUT
