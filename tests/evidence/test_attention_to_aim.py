"""Scores and nulls of aims, against the plainest way to compute them."""

import pytest
import torch

from ontogeny.evidence import EVIDENCE
from ontogeny.vocabulary import Reading, Status


def plainly(pattern, aim, chosen):
    """Mean weight, and mean of 1 / (keys a query can see), over all queries of one template a sequence."""
    weights, uniform = [], []
    for sequence, template in enumerate(chosen.tolist()):
        for query in aim.queries[template].nonzero().flatten().tolist():
            weights.append(pattern[sequence, :, query, query - int(aim.lags[template])])
            uniform.append(1 / (query + 1))
    return torch.stack(weights).double().mean(0), sum(uniform) / len(uniform), len(uniform)


@pytest.mark.parametrize("name", ["previous", "successor"])
def test_scores_and_every_draw(name, reduced, shown, stimulus):
    pattern, aim = shown("attention"), stimulus(6, 20).aims[name]
    found = reduced(f"attention_to_{name}", "attention", pattern, batch=4)
    score, uniform, n = plainly(pattern, aim, aim.own)
    assert found.n == n
    torch.testing.assert_close(found.score, score, rtol=1e-5, atol=1e-7)
    for drawn, chosen in zip(found.shuffled[:25], aim.shuffled[:25], strict=True):
        expected, uniformly, _ = plainly(pattern, aim, chosen)
        torch.testing.assert_close(drawn, expected - uniformly + uniform, rtol=1e-5, atol=1e-7)


def test_a_stimulus_without_the_aim_has_no_target(reduced, shown):
    found = reduced("attention_to_duplicate", "attention", shown("attention"))
    assert isinstance(found, Reading)
    assert found.status is Status.NO_TARGET
    assert "'duplicate'" in found.reason


def test_the_three_aims_are_offered():
    assert {"attention_to_previous", "attention_to_successor", "attention_to_duplicate"} <= set(EVIDENCE)
