"""Rows come from the training stream alone, uniformly; held-out rows never overlap or repeat."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ontogeny.catalogue import DataFacts, Objective, part
from ontogeny.errors import BadSource
from ontogeny.objectives import next_token
from ontogeny.sources import TokenSource
from ontogeny.vocabulary import Streams, TrainingState


def source(train=1000, heldout=200, vocabulary=1200):
    """Streams in which every token says where it stands."""
    stream = np.arange(train + heldout, dtype=np.uint16)
    return TokenSource(
        name="positions",
        train=stream[:train],
        heldout=stream[train:],
        vocabulary=vocabulary,
        counts=np.bincount(stream[:train], minlength=vocabulary),
        hash="0",
        corpus_hash="0",
        split="",
    )


def batch(objective, step=3, seed=0):
    draw = objective.draw(step, Streams(seed).generator("data", step))
    return draw, objective.batch(draw, TrainingState(), torch.Generator())["tokens"]


def test_it_keeps_the_contracts():
    objective = next_token(source())
    assert isinstance(objective, Objective)
    assert isinstance(objective.facts(), DataFacts)
    assert part("objective", "next_token").needs == ("corpus",)
    assert dict(part("objective", "next_token").parameters) == {"batch": 16, "context": 64}


def test_a_row_is_what_stands_in_the_training_stream_from_its_start():
    draw, tokens = batch(next_token(source(), batch=5, context=7))
    assert tokens.dtype == torch.int64
    assert torch.equal(tokens, draw.items[:, None] + torch.arange(8))


def test_the_same_seed_and_step_give_the_same_draw():
    objective = next_token(source())
    assert batch(objective)[0].identity == batch(objective)[0].identity
    assert batch(objective)[0].identity != batch(objective, step=4)[0].identity
    assert batch(objective)[0].identity != batch(objective, seed=1)[0].identity


def test_every_start_is_drawn_equally_often_and_no_held_out_token_ever():
    objective = next_token(source(train=20, heldout=20), batch=16_000, context=9)
    draw, tokens = batch(objective)
    counts = torch.bincount(draw.items)
    assert len(counts) == 11
    assert ((counts - 16_000 / 11).abs() < 5 * (16_000 / 11) ** 0.5).all()
    assert tokens.max() == 19


def test_a_model_that_knows_only_counts_has_their_entropy():
    stream = np.array([0, 1, 0, 2] * 500, np.uint16)
    counted = TokenSource(
        name="counted",
        train=stream,
        heldout=stream[:100],
        vocabulary=3,
        counts=np.bincount(stream),
        hash="0",
        corpus_hash="0",
        split="",
    )
    objective = next_token(counted, batch=4, context=8)

    class Counted(torch.nn.Module):
        def forward(self, tokens):
            return objective.token_counts().log().expand(*tokens.shape, 3)

    _, tokens = batch(objective)
    losses = objective.loss(Counted(), {"tokens": tokens})
    assert losses.values.shape == losses.weights.shape == (4, 8)
    torch.testing.assert_close(losses.mean(), torch.tensor(1.5 * np.log(2)).float())


@given(st.integers(1, 40), st.integers(2, 60))
def test_held_out_windows_are_whole_disjoint_and_spread(sequences, length):
    objective = next_token(source(heldout=300, vocabulary=1300), context=8)
    if sequences * length > 300:
        with pytest.raises(BadSource, match="300 tokens"):
            objective.heldout(sequences, length)
        return
    tokens, weights = objective.heldout(sequences, length)
    assert tokens.shape == weights.shape == (sequences, length)
    assert tokens.min() >= 1000
    assert len(tokens.flatten().unique()) == sequences * length
    assert torch.equal(tokens[:, 1:] - tokens[:, :-1], torch.ones(sequences, length - 1).long())
    assert weights[:, -1].sum() == 0
    assert weights.sum() == sequences * (length - 1)
    assert 1300 - int(tokens[-1, -1]) <= 300 // sequences + 1


@pytest.mark.parametrize("sizes", [{"train": 64}, {"heldout": 64}])
def test_streams_shorter_than_a_row_are_refused_with_the_numbers(sizes):
    with pytest.raises(BadSource, match=r"64 tokens[\s\S]*at least 65"):
        next_token(source(**sizes))
    next_token(source(**dict.fromkeys(sizes, 65)))


def test_facts_are_the_source_s():
    facts = next_token(source()).facts()
    assert facts.vocabulary == 1200
    assert facts.token_counts().sum() == 1000
    assert facts.fixed_lags() == frozenset()
    assert facts.beginning() is None
    assert facts.text(torch.tensor([3, 4])) == "3 4"


def test_its_training_data_can_be_counted():
    corpus = source()
    assert next_token(corpus, batch=2, context=8).facts().statistics() is corpus.statistics
