"""Losses kept token by token."""

import torch


def test_each_loss_stands_with_its_weight(reduced, shown, stimulus):
    logits, made = shown("logits"), stimulus(6, 20)
    found = reduced("token_loss", "logits", logits, batch=4)
    expected = -logits.log_softmax(-1)[:, :-1].gather(-1, made.tokens[:, 1:, None])[..., 0]
    torch.testing.assert_close(found.loss, expected)
    assert torch.equal(found.weights, made.weights[:, :-1])


def test_half_precision_logits_are_summed_in_float32(reduced, shown):
    assert reduced("token_loss", "logits", shown("logits").bfloat16()).loss.dtype is torch.float32
