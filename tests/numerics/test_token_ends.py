"""Both ends of every path through a model."""

import pytest
import torch

from ontogeny.numerics import token_ends
from ontogeny.numerics.token_ends import TokenEnds


@pytest.fixture
def rng() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def test_what_meets_is_the_sum_over_tokens(rng, monkeypatch):
    embedding, unembedding = (torch.randn(29, 6, generator=rng) for _ in range(2))
    gain = torch.randn(6, generator=rng)
    plain = sum(
        torch.outer(e, gain * u) for e, u in zip(embedding.double(), unembedding.double(), strict=True)
    )
    torch.testing.assert_close(TokenEnds(embedding, unembedding, gain).meeting, plain)
    torch.testing.assert_close(TokenEnds(embedding, unembedding).meeting * gain.double(), plain)
    monkeypatch.setattr(token_ends, "TOKENS", 8)
    torch.testing.assert_close(TokenEnds(embedding, unembedding, gain).meeting, plain)


def test_its_trace_with_a_map_is_what_tokens_do_for_themselves(rng):
    embedding, unembedding = (torch.randn(29, 6, generator=rng, dtype=torch.float64) for _ in range(2))
    between = torch.randn(6, 6, generator=rng, dtype=torch.float64)
    logits = embedding @ between.mT @ unembedding.mT
    trace = (between.mT * TokenEnds(embedding, unembedding).meeting).sum()
    torch.testing.assert_close(trace, logits.trace())


def test_rows_of_one_side_only_are_left_out(rng):
    embedding, unembedding = torch.randn(9, 4, generator=rng), torch.randn(12, 4, generator=rng)
    plain = TokenEnds(embedding, unembedding[:9]).meeting
    assert torch.equal(TokenEnds(embedding, unembedding).meeting, plain)


def test_moments_are_those_of_the_tokens_both_ends_have(rng, monkeypatch):
    embedding, unembedding = torch.randn(29, 6, generator=rng), torch.randn(31, 6, generator=rng)
    gain, reader = torch.randn(6, generator=rng), torch.randn(3, 6, generator=rng, dtype=torch.float64)
    monkeypatch.setattr(token_ends, "TOKENS", 8)
    found = TokenEnds(embedding, unembedding, gain).moments
    for moments, vectors in zip(found, (embedding, unembedding[:29] * gain), strict=True):
        seen, read = moments.seen_by(reader), vectors.double() @ reader.mT
        assert seen.n == 29
        torch.testing.assert_close(seen.mean, read.mean(0))
        torch.testing.assert_close(seen.scatter, 28 * read.mT.cov())
