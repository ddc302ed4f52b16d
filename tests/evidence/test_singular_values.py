"""Singular values with and without the matrix."""

import torch

from ontogeny.evidence.singular_values import of_residual, of_weight
from ontogeny.vocabulary import Reading


def test_of_a_stream_they_are_those_of_the_matrix_of_its_vectors(reduced, shown):
    stream = shown("residual")
    found = of_residual(reduced("residual_gram", "residual", stream, 2))
    torch.testing.assert_close(found, torch.linalg.svdvals(stream[:, 1:].flatten(0, 1).double()))


def test_of_a_weight_in_any_precision():
    weight = torch.randn(6, 9, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(of_weight(weight), torch.linalg.svdvals(weight.double()))
    torch.testing.assert_close(of_weight(weight.bfloat16()), torch.linalg.svdvals(weight.bfloat16().double()))


def test_what_has_none_is_handed_on(reduced, shown):
    assert isinstance(of_weight(torch.zeros(0, 3)), Reading)
    broken = reduced("residual_gram", "residual", shown("residual") * torch.nan)
    assert isinstance(of_residual(broken), Reading)
