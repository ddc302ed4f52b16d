"""By source and over all, the same rows and tokens are counted, whatever a step is made of."""

import numpy as np
import pytest

from ontogeny.interventions import batch_size
from ontogeny.objectives import next_token
from ontogeny.record.mixture_counters import MixtureCounters
from ontogeny.record.training import Training
from ontogeny.sources import Mixture, TokenSource
from ontogeny.testing import tiny_training


def mixture() -> Mixture:
    stream = (np.arange(300) % 40).astype(np.uint16)
    one = TokenSource("one", stream, stream, 40, np.bincount(stream), "1", "1", "")
    other = TokenSource("other", stream[::-1].copy(), stream, 40, one.counts, "2", "2", "")
    return Mixture((one, other), (0.5, 0.5), "none")


@pytest.mark.parametrize("accumulation", [1, 3])
def test_the_sources_add_up_to_the_step(accumulation):
    recipe = tiny_training(training={"accumulation": accumulation}).recipe
    training = Training(recipe, next_token(mixture(), batch=5, context=12), [batch_size(share=1.4)])
    rows, tokens = 0, 0
    for step in range(4):
        training.state["counters"].step = step
        found = training.step()
        rows, tokens = rows + found.samples, tokens + found.tokens
        assert found.more["samples/one"] + found.more["samples/other"] == rows
        assert found.more["tokens/one"] + found.more["tokens/other"] == tokens
    assert rows == 4 * 7 * accumulation
    counted = training.state["by_source"]
    other = MixtureCounters(mixture())
    other.load_state_dict(counted.state_dict())
    assert other.record() == counted.record() == found.more


def test_a_run_of_one_corpus_counts_nothing_more():
    training = tiny_training()
    assert "by_source" not in training.state
    assert training.step().more == {}
