"""The sample of heads' outputs is of the same tokens as that of the stream."""

import torch

from ontogeny.evidence.residual_sample import chosen_positions


def test_it_holds_the_chosen_tokens(reduced, shown):
    outputs = shown("head_output", 90)
    found = reduced("head_sample", "head_output", outputs, batch=7)
    assert found.shape == (1280, 3, 4)
    assert torch.equal(found, outputs.flatten(0, 1)[chosen_positions(90, 20)])
