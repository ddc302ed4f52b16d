"""STA-01, STA-05, STA-08 for pairs."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontogeny.statistics import paired
from ontogeny.statistics.paired import (
    paired_effects,
    paired_power,
    pairs_to_reach,
    seeds_needed,
    sign_flip_p,
    smallest_p,
)


def one(*differences: float, **named):
    return paired_effects(np.array(differences)[:, None], **named)[0]


@pytest.mark.parametrize(("size", "pairs"), [(2.0, 5), (1.5, 6), (1.0, 10), (0.8, 15), (0.5, 34)])
def test_seeds_needed_of_the_table(size, pairs):
    assert seeds_needed(size) == pairs
    assert paired_power(size, pairs) >= 0.8 > paired_power(size, pairs - 1)


def test_no_number_of_seeds_shows_nothing():
    assert seeds_needed(0.0) is None
    assert seeds_needed(1e-9) is None
    assert paired_power(0.0, 20) == pytest.approx(0.05)


def test_power_is_what_simulation_finds():
    rng = np.random.default_rng(0)
    x = rng.normal(1, 1, (4000, 10))
    t = x.mean(1) / x.std(1, ddof=1) * 10**0.5
    assert (np.abs(t) > 2.2622).mean() == pytest.approx(paired_power(1.0, 10), abs=0.02)


def test_the_smallest_p_and_who_reaches_what():
    assert [smallest_p(n) for n in (3, 5, 6)] == [0.25, 0.0625, 0.03125]
    assert smallest_p(20) == 1e-4
    assert [pairs_to_reach(alpha) for alpha in (0.25, 0.0625, 0.05, 0.01)] == [3, 5, 6, 8]


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
    assert one(*np.linspace(1, 1.1, pairs), alpha=smallest_p(pairs)).p.value == smallest_p(pairs)


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
    assert one(*x).seeds.value > seeds_needed(float(x.mean() / x.std(ddof=1)))
    long = np.random.default_rng(8).normal(0.7, 1, 12)
    assert one(*long).seeds.value == max(6, seeds_needed(float(long.mean() / long.std(ddof=1))))


def test_missing_numbers_are_left_out():
    x = np.array([[1.0, np.nan, np.nan], [1.1, 2.0, np.nan], [0.9, 2.1, np.nan]])
    found = paired_effects(x)
    assert [effect.effect.n for effect in found] == [3, 2, 0]
    assert found[1].effect.value == pytest.approx(2.05)
    assert found[2].effect.status == found[2].p.status == "no-target"
