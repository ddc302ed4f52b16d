"""Entropy of attention rows by query."""

import torch


def test_sums_by_query_are_those_of_each_row(reduced, shown):
    pattern = shown("attention")
    found = reduced("attention_entropies", "attention", pattern, batch=4)
    expected = torch.distributions.Categorical(probs=pattern[..., :, :].double()).entropy().sum(0)
    torch.testing.assert_close(found.total, expected, rtol=1e-4, atol=1e-5)
    assert found.sequences == 6
    assert float(found.total[:, 0].abs().max()) == 0, "query 0 has one key"


def test_weights_too_small_to_matter_do_not(reduced):
    pattern = torch.zeros(1, 1, 2, 2)
    pattern[..., 0] = 1
    pattern[0, 0, 1] = torch.tensor([1.0, 1e-42])
    assert reduced("attention_entropies", "attention", pattern).total.abs().max() < 1e-6
