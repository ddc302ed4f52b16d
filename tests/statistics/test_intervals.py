"""Student's interval for a few runs, and what corrects a bootstrap."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ontogeny.statistics.intervals import bca_shares, same_mean, t_interval


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_it_is_scipys(level):
    x = np.random.default_rng(0).normal(3, 2, 7)
    expected = stats.ttest_1samp(x, 0).confidence_interval(level)
    found = t_interval(x, level=level)
    assert [found.value, found.low, found.high] == pytest.approx([x.mean(), expected.low, expected.high])
    assert found.n == 7


def test_one_two_three():
    found = t_interval([1, 2, 3])
    assert (found.value, found.low, found.high) == pytest.approx((2, 2 - 2.484, 2 + 2.484), abs=1e-3)


def test_too_little_says_so():
    assert t_interval([]).status == t_interval([np.nan]).status == "no-target"
    one = t_interval([0.3, np.inf])
    assert (one.value, one.low, one.n, one.reason) == (0.3, None, 1, "one value has no interval")
    equal = t_interval([0.1] * 3)
    assert (equal.value, equal.low, equal.high) == (0.1, 0.1, 0.1)
    assert "no spread" in equal.reason


@given(st.floats(-1e300, 1e300), st.integers(1, 9))
def test_the_mean_of_equal_values_is_that_value(value, n):
    assert same_mean(np.full(n, value)) == value


def test_the_correction_is_scipys():
    x = np.random.default_rng(1).exponential(size=25)
    theirs = stats.bootstrap((x,), np.mean, method="BCa", n_resamples=20_000, rng=np.random.default_rng(2))
    drawn = np.sort(theirs.bootstrap_distribution)
    shares = bca_shares(np.array([0.025, 0.975]), drawn, x.mean(), (x.sum() - x) / 24)
    low, high = np.quantile(drawn, shares)
    assert [low, high] == pytest.approx(list(theirs.confidence_interval), rel=2e-3)


def test_no_bias_and_no_skew_change_nothing():
    drawn = np.linspace(-1, 1, 9_999)
    shares = np.array([0.025, 0.975])
    assert bca_shares(shares, drawn, 0.0, np.array([-1.0, 1.0])) == pytest.approx(shares, abs=1e-3)
    assert bca_shares(shares, drawn, 0.0, np.ones(5)) == pytest.approx(shares, abs=1e-3)
