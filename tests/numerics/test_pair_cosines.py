"""Cosines between every two vectors of every occasion."""

import math

import pytest
import torch

from ontogeny.numerics.pair_cosines import PairCosines, cosines_of, mean_cosine
from ontogeny.vocabulary import Status


@pytest.fixture
def rng() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def of(vectors: torch.Tensor, least: float = 0.0) -> PairCosines:
    return cosines_of(vectors @ vectors.mT, least)


def mean(cosines: PairCosines):
    return mean_cosine(cosines, Status.ZERO_OUTPUT, "nothing")


def test_they_are_torchs_own(rng):
    vectors = torch.randn(5, 3, 7, generator=rng, dtype=torch.float64)
    plain = torch.nn.functional.cosine_similarity(vectors[:, :, None], vectors[:, None], dim=-1)
    found = of(vectors)
    off = ~torch.eye(3, dtype=torch.bool)
    torch.testing.assert_close(found.total[off], plain.sum(0)[off])
    assert found.occasions[off].tolist() == [5] * 6
    assert found.total.diagonal().tolist() == found.occasions.diagonal().tolist() == [0, 0, 0]
    reading = mean(found)
    assert float(reading.value) == pytest.approx(float(plain.mean(0)[off].mean()))
    assert reading.n == 15


def test_equal_vectors_are_one_and_opposite_ones_minus_one(rng):
    one = torch.randn(4, 1, 9, generator=rng)
    assert float(mean(of(torch.cat([one, 3 * one, one], 1))).value) == pytest.approx(1, abs=1e-6)
    assert float(mean(of(torch.cat([one, -one], 1))).value) == pytest.approx(-1, abs=1e-6)


def test_occasions_add_up(rng):
    vectors = torch.randn(6, 3, 7, generator=rng, dtype=torch.float64)
    whole, cut = of(vectors), of(vectors[:2]) + of(vectors[2:])
    torch.testing.assert_close(whole.total, cut.total)
    assert torch.equal(whole.occasions, cut.occasions)


def test_what_has_no_direction_is_left_out(rng):
    vectors = torch.randn(4, 3, 7, generator=rng, dtype=torch.float64)
    vectors[1, 2] = 0
    vectors[:, 0] *= 1e-9
    found = of(vectors)
    assert found.occasions[0].tolist() == [0, 4, 3]
    assert found.occasions[1].tolist() == [4, 0, 3]
    assert of(vectors, 1e-12).occasions[0].tolist() == [0, 0, 0]
    assert mean(of(vectors, 1e-12)).n == 3


def test_what_is_not_finite_spoils_its_own_pairs(rng):
    vectors = torch.randn(4, 3, 7, generator=rng)
    vectors[1, 2, 0] = math.nan
    found = of(vectors)
    assert found.total.isnan().tolist() == [[False, False, True], [False, False, True], [True, True, False]]
    assert math.isnan(mean(found).value)


def test_where_there_is_no_pair_it_is_said():
    assert mean(of(torch.zeros(3, 2, 5))).status is Status.ZERO_OUTPUT
    assert mean(of(torch.ones(3, 1, 5))).status is Status.N_TOO_SMALL
    assert mean(PairCosines.none(4)).reason == "nothing"
