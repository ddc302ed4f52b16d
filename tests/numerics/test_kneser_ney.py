"""Distributions against the formula, and against NLTK's parts of it."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from ontogeny.numerics.continuations import continuations
from ontogeny.numerics.kneser_ney import KneserNey

ORACLE = Path(__file__).parents[1] / "oracles" / "nltk_kneser_ney.json"


def stream_of(length=400, vocabulary=5, seed=0):
    rng = np.random.default_rng(seed)
    found = [0]
    while len(found) < length:
        found.append(
            (2 * found[-1] + 1) % vocabulary if rng.random() < 0.6 else int(rng.integers(vocabulary))
        )
    return np.array(found)


def formula(stream, context, order, vocabulary, discount=0.75):
    """p of the interpolated model of this order, word by word, from sets and loops."""
    stream = [int(token) for token in stream]

    def counts(width, raw):
        found = np.zeros(vocabulary)
        wanted = tuple(context[len(context) - width :])
        seen = [set() for _ in range(vocabulary)]
        for at in range(width, len(stream)):
            if tuple(stream[at - width : at]) == wanted:
                found[stream[at]] += 1
                if at > width:
                    seen[stream[at]].add(stream[at - width - 1])
        return found if raw else np.array([len(one) for one in seen], float)

    def chance(width, raw):
        lower = np.full(vocabulary, 1 / vocabulary) if width == 0 else chance(width - 1, False)
        found = counts(width, raw)
        if not found.sum():
            return lower
        left = discount * (found > 0).sum() / found.sum()
        return np.maximum(found - discount, 0) / found.sum() + left * lower

    return chance(order - 1, True)


@pytest.fixture
def made():
    stream, rows = stream_of(), stream_of(30, seed=1).reshape(3, 10)
    return stream, rows, KneserNey(continuations([stream], rows, 5), 5)


def test_every_order_is_the_formula_and_a_distribution(made):
    stream, rows, model = made
    places = torch.arange(30)
    for order, (kept, chances) in enumerate(model.each_order(places), start=1):
        assert chances.sum(1).numpy() == pytest.approx(1, abs=1e-6)
        for at, chance in zip(kept.tolist(), chances, strict=True):
            row, position = divmod(at, 10)
            context = rows[row, max(0, position - 3) : position + 1].tolist()
            assert chance.numpy() == pytest.approx(formula(stream, context, order, 5), abs=1e-6)


def test_contexts_are_left_out_where_they_are_too_short_or_too_rare(made):
    stream, rows, model = made
    orders = list(model.each_order(torch.arange(30), least=5))
    assert len(orders) == model.orders == 5
    assert len(orders[0][0]) == 30
    for width, (kept, _) in enumerate(orders[1:], start=1):
        for at in range(30):
            row, position = divmod(at, 10)
            context = rows[row, position + 1 - width : position + 1].tolist()
            starts = range(len(stream) - width)
            times = sum(stream[s : s + width].tolist() == context for s in starts)
            assert (at in kept.tolist()) == (position + 1 >= width and times >= 5)


def test_single_targets_read_what_the_highest_order_gives(made):
    _, _, model = made
    places = torch.arange(30)
    targets = torch.arange(30) % 5
    wanted = torch.zeros(30)
    for kept, chances in model.each_order(places):
        wanted[kept] = -chances.gather(1, targets[kept, None])[:, 0].log()
    assert torch.allclose(model.target_surprisal(places, targets), wanted, atol=1e-5)


def test_nltk_takes_the_same_from_each_count():
    oracle = json.loads(ORACLE.read_text())
    stream, vocabulary = np.array(oracle["stream"]), 6
    for one in oracle["parts"]:
        width, context = len(one["context"]), one["context"]
        levels = continuations([stream], np.array([context]), vocabulary, longest=oracle["order"])
        model = KneserNey(levels, vocabulary, oracle["discount"])
        table = model._tables[width - 1]
        number = table.context[width - 1]
        raw, continued = table.shares(number * vocabulary + one["word"])
        highest = width + 1 == oracle["order"]
        left = (table.raw_left if highest else table.continued_left)[number]
        assert float(raw if highest else continued) == pytest.approx(one["share"], abs=1e-6)
        assert float(left) == pytest.approx(one["left"], abs=1e-6)


def test_nothing_is_impossible_and_an_empty_question_is_none():
    rows = np.array([[3, 3, 3]])
    model = KneserNey(continuations([np.array([0, 1, 0, 1, 0])], rows, 4), 4)
    ((kept, chances),) = list(model.each_order(torch.arange(3), least=5))[:1]
    assert len(kept) == 3
    assert float(chances.min()) > 0
    assert model.target_surprisal(torch.arange(3), torch.tensor([2, 2, 3])).isfinite().all()
    assert (
        len(model.target_surprisal(torch.zeros(0, dtype=torch.long), torch.zeros(0, dtype=torch.long))) == 0
    )
