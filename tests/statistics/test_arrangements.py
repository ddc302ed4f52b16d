"""STA-01: what else could have been observed, and what so few units can show."""

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontogeny.errors import BadArgument
from ontogeny.statistics.arrangements import (
    label_arrangements,
    pairs_to_reach,
    sign_arrangements,
    units_to_reach,
)


@pytest.mark.parametrize(("n", "p"), [(3, 0.1), (4, 0.029), (5, 0.0079)])
def test_the_smallest_p_of_the_table(n, p):
    found = label_arrangements([0] * n + [1] * n)
    assert (len(found), found.complete) == (comb(2 * n, n), True)
    assert found.smallest_p() == pytest.approx(p, rel=0.02)
    assert found.smallest_p(two_sided=False) == found.smallest_p() / 2
    assert bool(found.refusal(0.05)) == (n == 3)


def test_three_an_arm_are_refused_with_the_number_that_could():
    reason = label_arrangements(["a"] * 3 + ["b"] * 3).refusal(0.05)
    assert reason == "3 + 3 units cannot go below p = 0.1; alpha 0.05 needs 4 in each of two arms"
    assert "alpha 0.05 needs 6" in sign_arrangements(5).refusal(0.05)
    assert "1 pair cannot" in sign_arrangements(1).refusal(0.05)
    assert "4 + 1 units" in label_arrangements([1, 0, 0, 0, 0]).refusal(0.05)
    assert "99,999 can" in label_arrangements(np.arange(20)).refusal(1e-5)
    assert label_arrangements([7, 7, 7]).smallest_p() == 1


def test_how_many_reach_an_alpha():
    assert [units_to_reach(alpha) for alpha in (0.1, 0.05, 0.01, 0.001)] == [3, 4, 5, 7]
    assert [units_to_reach(alpha, two_sided=False) for alpha in (0.05, 0.01)] == [3, 5]
    assert [pairs_to_reach(alpha) for alpha in (0.25, 0.0625, 0.05, 0.01)] == [3, 5, 6, 8]
    assert pairs_to_reach(0.05, two_sided=False) == 5
    assert [sign_arrangements(n).smallest_p() for n in (3, 5, 6)] == [0.25, 0.0625, 0.03125]
    assert sign_arrangements(20).smallest_p() == 1e-4


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=7))
def test_every_arrangement_once_and_the_observed_one_first(labels):
    found = label_arrangements(labels)
    assert found.each[0].tolist() == labels
    assert len(np.unique(found.each, axis=0)) == len(found)
    assert (np.sort(found.each, axis=1) == np.sort(labels)).all()


def test_many_are_drawn_and_repeat():
    labels = np.repeat([0, 1], 12)
    found = label_arrangements(labels, seed=3)
    assert (len(found), found.complete) == (10_000, False)
    assert np.array_equal(found.each[0], labels)
    assert np.array_equal(found.each, label_arrangements(labels, seed=3).each)
    assert not np.array_equal(found.each, label_arrangements(labels, seed=4).each)
    assert found.each[1:].mean(0) == pytest.approx(np.full(24, 0.5), abs=0.03)


def test_signs_are_all_there_and_none_flipped_first():
    found = sign_arrangements(4)
    assert len(np.unique(found.each, axis=0)) == 16
    assert (found.each[0] == 1).all()
    assert (sign_arrangements(30).each[0] == 1).all()
    assert len(sign_arrangements(0)) == 1


def test_labels_are_one_a_unit():
    with pytest.raises(BadArgument, match="one a unit"):
        label_arrangements([[0, 1], [1, 0]])
    assert len(label_arrangements([])) == 1
