"""What key 0 receives, and what keys drawn at random receive."""

import torch


def test_the_score_and_every_draw(reduced, shown, stimulus):
    pattern, aim = shown("attention"), stimulus(6, 20).aims["previous"]
    found = reduced("attention_to_first", "attention", pattern, batch=4)
    torch.testing.assert_close(found.score, pattern[:, :, :, 0].double().mean((0, 2)), rtol=1e-5, atol=1e-7)
    assert found.n == 6 * 20
    harmonic = sum(1 / (query + 1) for query in range(20))
    for drawn, chosen in zip(found.shuffled[:25], aim.shuffled[:25], strict=True):
        keys = aim.lags[chosen].tolist()
        received = sum(pattern[s, :, key:, key].sum(-1) for s, key in enumerate(keys))
        uniform = sum(1 / (query + 1) for key in keys for query in range(key, 20))
        n = sum(20 - key for key in keys)
        torch.testing.assert_close(
            drawn, ((received - uniform) / n + harmonic / 20).double(), rtol=1e-5, atol=1e-6
        )


def test_a_draws_keys_are_never_the_first(stimulus):
    aim = stimulus(6, 20).aims["previous"]
    assert int(aim.lags[aim.shuffled].min()) >= 2
