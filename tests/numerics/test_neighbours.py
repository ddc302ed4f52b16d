"""Signatures against a count by hand; correlations against scipy's."""

import numpy as np
import pytest
import scipy.stats
import torch

from ontogeny.numerics import neighbours as module
from ontogeny.numerics.neighbours import neighbours, pair_cosines_of, rank_correlation, recall_of_top


def stream_of(length=300, vocabulary=6, seed=0):
    rng = np.random.default_rng(seed)
    return np.minimum(rng.integers(0, vocabulary, length), rng.integers(0, vocabulary, length))


def by_hand(streams, token, vocabulary, distances):
    found = np.zeros((len(token), vocabulary))
    for stream in streams:
        for row, one in enumerate(token):
            for at in np.flatnonzero(stream == one):
                for distance in distances:
                    if 0 <= at + distance < len(stream):
                        found[row, stream[at + distance]] += 1
    return found / found.sum(1, keepdims=True)


def cosines(rows, chance):
    centred = rows - (chance / chance.sum()) @ rows
    centred /= np.linalg.norm(centred, axis=1, keepdims=True)
    return (centred @ centred.T)[np.triu_indices(len(rows), 1)]


@pytest.mark.parametrize("piece", [1 << 22, 7, 60])
def test_signatures_are_those_of_a_count_by_hand(monkeypatch, piece):
    monkeypatch.setattr(module, "PIECE", piece)
    streams = [stream_of(), stream_of(40, seed=1)]
    counts = sum(np.bincount(stream, minlength=7) for stream in streams)
    found = neighbours(streams, counts, most=5, window=3)
    assert found.token.tolist() == np.argsort(-counts, kind="stable")[:5].tolist()
    assert found.chance == pytest.approx(counts[found.token] / counts.sum())
    sides = {"next": (1,), "previous": (-1,), "context": (-3, -2, -1, 1, 2, 3)}
    for name, distances in sides.items():
        wanted = cosines(by_hand(streams, found.token, 7, distances), found.chance)
        assert found.cosines[name].values == pytest.approx(wanted, abs=1e-5)


def test_tokens_that_never_occur_are_left_out():
    found = neighbours([np.array([0, 1, 0, 1, 1])], np.array([2, 3, 0]), most=3)
    assert found.token.tolist() == [1, 0]


def test_vectors_of_any_size_have_the_same_cosines():
    vectors = torch.randn(9, 4, generator=torch.Generator().manual_seed(0))
    chance = np.arange(1.0, 10)
    wanted = cosines(vectors.double().numpy(), chance)
    for factor in (1.0, 1e-30, 1e30):
        assert pair_cosines_of(vectors * factor, chance) == pytest.approx(wanted, abs=1e-6)


def test_vectors_that_do_not_differ_have_none():
    assert np.isnan(pair_cosines_of(torch.ones(4, 3), np.ones(4))).all()
    assert np.isnan(pair_cosines_of(torch.zeros(4, 3), np.ones(4))).all()


def test_correlation_and_recall():
    rng = np.random.default_rng(0)
    one, other = rng.normal(size=500).round(1), rng.normal(size=500).round(1)
    assert rank_correlation(one, other) == pytest.approx(scipy.stats.spearmanr(one, other).statistic)
    assert np.isnan(rank_correlation(one, np.ones(500)))
    assert np.isnan(rank_correlation(one[:0], other[:0]))
    holes = np.where(np.arange(500) % 7 == 0, np.nan, one)
    kept = np.isfinite(holes)
    wanted = scipy.stats.spearmanr(one[kept], other[kept]).statistic
    assert rank_correlation(holes, other) == pytest.approx(wanted)
    assert recall_of_top(one, one**3, 0.1) > 0.9
    assert recall_of_top(np.arange(100.0), -np.arange(100.0)) == 0
    assert recall_of_top(np.arange(100.0), np.arange(100.0)) == 1
