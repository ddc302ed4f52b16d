import torch

from ontogeny.evidence.residual_sample import chosen_positions


def test_it_keeps_the_chosen_vectors_after_the_final_norm(reduced):
    vectors = torch.randn(6, 20, 8, generator=torch.Generator().manual_seed(0))
    kept = reduced("final_sample", "final_state", vectors, batch=4)
    assert torch.equal(kept, vectors.flatten(0, 1)[chosen_positions(6, 20)])
