"""Vectors at position 0."""

import pytest
import torch


@pytest.mark.parametrize("batch", [1, 4, 1000])
def test_they_are_position_zero_of_every_sequence(reduced, shown, batch):
    stream = shown("residual")
    assert torch.equal(reduced("first_vectors", "residual", stream, batch), stream[:, 0])


def test_they_are_copies(reduced, shown):
    stream = shown("residual")
    found = reduced("first_vectors", "residual", stream)
    before = found.clone()
    stream.zero_()
    assert torch.equal(found, before)
