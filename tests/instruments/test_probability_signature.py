"""TOK-05."""

import numpy as np
import pytest
import torch

from ontogeny.instruments.probability_signature import probability_signature
from ontogeny.sources import CorpusStatistics
from ontogeny.testing import TinyFacts
from ontogeny.vocabulary import Status

KINDS = 700


class Facts(TinyFacts):
    """A stream of tokens on a circle, each followed by one that lies near: likeness in all degrees."""

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        steps = np.round(rng.normal(0, 60, 200_000)).astype(int)
        stream = np.cumsum(steps) % KINDS
        self.known = CorpusStatistics([stream], np.bincount(stream, minlength=KINDS), "circle")

    def statistics(self):
        return self.known


@pytest.fixture(scope="module")
def facts():
    return Facts()


def signature(facts, distance: int):
    """P(token at a distance | token) [token vocabulary]."""
    (stream,) = facts.known.streams
    found = np.zeros((KINDS, KINDS))
    here, there = (stream[:-distance], stream[distance:]) if distance > 0 else (stream[1:], stream[:-1])
    np.add.at(found, (here, there), 1)
    return found / found.sum(1, keepdims=True).clip(1)


def projected(rows, width=512):
    rng = np.random.default_rng(1)
    return torch.from_numpy(rows @ rng.normal(size=(rows.shape[1], width))).float()


def values(found):
    return {name: float(one.value) for name, one in found.items()}


def test_random_projections_of_the_signatures_read_above_nine_tenths(facts):
    embedding, unembedding = projected(signature(facts, 1)), projected(signature(facts, -1))
    found = values(probability_signature(embedding, unembedding, facts))
    assert found[""] > 0.9
    assert found["previous"] > 0.9
    assert found["recall"] > 0.5
    assert found["recall_previous"] > 0.5


def test_random_vectors_read_nothing(facts):
    generator = torch.Generator().manual_seed(0)
    embedding, unembedding = (torch.randn(KINDS, 512, generator=generator) for _ in range(2))
    found = values(probability_signature(embedding, unembedding, facts))
    assert [found[name] for name in ("", "previous", "context")] == pytest.approx([0, 0, 0], abs=0.01)
    assert [found[name] for name in ("recall", "recall_previous")] == pytest.approx([0.01, 0.01], abs=0.005)


def test_scale_offset_and_rotation_change_nothing(facts):
    embedding = projected(signature(facts, 1), 24)
    rotation, _ = torch.linalg.qr(torch.randn(24, 24, generator=torch.Generator().manual_seed(3)))
    plain = values(probability_signature(embedding, embedding, facts))
    for other in (1e-10 * embedding, embedding + 7, embedding @ rotation):
        assert values(probability_signature(other, other, facts)) == pytest.approx(plain, abs=2e-3)


def test_what_cannot_be_read_says_why(facts):
    vectors = torch.randn(KINDS, 8, generator=torch.Generator().manual_seed(0))

    def statuses(embedding, unembedding, known):
        return {one.status for one in probability_signature(embedding, unembedding, known).values()}

    class Unknown(TinyFacts):
        def statistics(self):
            return None

    assert statuses(vectors, vectors, Unknown()) == {Status.NOT_OBSERVABLE}
    assert statuses(vectors[:100], vectors, facts) == {Status.NOT_OBSERVABLE}
    assert statuses(torch.ones(KINDS, 8), torch.zeros(KINDS, 8), facts) == {Status.CONSTANT_INPUT}
    assert statuses(vectors * torch.nan, vectors * torch.nan, facts) == {Status.NONFINITE}
