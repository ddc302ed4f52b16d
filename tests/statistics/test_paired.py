"""STA-01, STA-05, STA-08 for pairs."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontogeny.statistics import paired
from ontogeny.statistics.arrangements import sign_arrangements
from ontogeny.statistics.paired import paired_effects, sign_flip_p
from ontogeny.statistics.seeds import seeds_needed


def one(*differences: float, **named):
    return paired_effects(np.array(differences)[:, None], **named)[0]


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=7))
@settings(deadline=None)
def test_p_is_the_share_of_all_sign_flips(differences):
    x = np.array(differences)
    x = x / (np.abs(x).max() or 1)
    signs = np.array(list(product([1, -1], repeat=len(x))))
    expected = (np.abs(signs @ x) >= abs(x.sum()) - 1e-9 * np.sqrt(len(x) * (x @ x))).mean()
    assert sign_flip_p(np.array(differences)[:, None])[0][0] == pytest.approx(expected)


def test_the_family_pays_for_choosing():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(8, 300))
    alone, family = sign_flip_p(x)
    assert alone.min() < 0.05, "of 300 null tests some are small"
    assert family.min() > 0.05
    assert (family >= alone).all()
    assert np.allclose(*sign_flip_p(x[:, :1]))


def test_family_wise_error_is_alpha():
    rng = np.random.default_rng(4)
    smallest = np.array([sign_flip_p(rng.normal(size=(9, 5)))[1].min() for _ in range(400)])
    assert (smallest <= 0.05).mean() == pytest.approx(0.05, abs=0.03)


def test_tests_are_cut_into_chunks_without_a_trace(monkeypatch):
    x = np.random.default_rng(5).normal(size=(7, 11))
    whole = sign_flip_p(x)
    monkeypatch.setattr(paired, "CHUNK", 3)
    assert np.array_equal(whole, sign_flip_p(x))


def test_many_pairs_are_drawn_and_repeat():
    x = np.random.default_rng(6).normal(1.5, 1, (20, 2))
    first, again = sign_flip_p(x), sign_flip_p(x)
    assert np.array_equal(first, again)
    assert first[0].max() <= 0.001
    assert first[0].min() >= 1e-4


def test_one_pair_gives_an_effect_and_no_p():
    found = one(0.3)
    assert (found.effect.value, found.effect.low, found.interval) == (0.3, None, "")
    assert found.p.status == found.seeds.status == "n-too-small"
    assert "6 are needed" in found.p.reason
    assert "5 at 2, 10 at 1, 34 at 0.5" in found.seeds.reason


@pytest.mark.parametrize("pairs", [2, 3, 4, 5])
def test_alpha_out_of_reach_is_refused(pairs):
    found = one(*np.linspace(1, 1.1, pairs))
    assert found.p.status == "n-too-small"
    assert "needs 6" in found.p.reason
    assert found.effect.low < found.effect.value < found.effect.high
    least = sign_arrangements(pairs).smallest_p()
    assert one(*np.linspace(1, 1.1, pairs), alpha=least).p.value == least


def test_six_equal_differences():
    found = one(*[0.2] * 6)
    assert found.p.value == 2 / 2**6
    assert [found.effect.low, found.effect.high] == pytest.approx([0.2, 0.2])
    assert found.seeds.value == 6


def test_no_difference_at_all():
    found = one(*[0.0] * 6)
    assert (found.p.value, found.p_family.value, found.effect.value) == (1, 1, 0)
    assert found.seeds.status == "no-target"


@pytest.mark.parametrize(
    ("pairs", "method", "least"), [(5, "t", 0.93), (10, "percentile", 0.86), (20, "BCa", 0.9)]
)
def test_intervals_cover_what_their_docstring_says(pairs, method, least, monkeypatch):
    monkeypatch.setattr(paired, "DRAWS", 1000)
    x = np.random.default_rng(7).normal(0.3, 1, (pairs, 400))
    found = paired_effects(x)
    assert {effect.interval for effect in found} == {method}
    covered = np.mean([effect.effect.low <= 0.3 <= effect.effect.high for effect in found])
    assert least <= covered <= 0.98


def test_few_pairs_are_not_trusted_with_the_spread():
    x = np.array([0.8, 1.2, 0.6, 1.4])
    assert one(*x).seeds.value > seeds_needed(float(x.mean() / x.std(ddof=1)), paired=True)
    long = np.random.default_rng(8).normal(0.7, 1, 12)
    assert one(*long).seeds.value == max(6, seeds_needed(float(long.mean() / long.std(ddof=1)), paired=True))


def test_missing_numbers_are_left_out():
    x = np.array([[1.0, np.nan, np.nan], [1.1, 2.0, np.nan], [0.9, 2.1, np.nan]])
    found = paired_effects(x)
    assert [effect.effect.n for effect in found] == [3, 2, 0]
    assert found[1].effect.value == pytest.approx(2.05)
    assert found[2].effect.status == found[2].p.status == "no-target"
