"""F82: aligned by step, n at every step, nothing padded."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ontogeny.errors import BadArgument
from ontogeny.statistics.mean_of_series import mean_of_series

LONG, SHORT = np.arange(521), np.arange(516)


def test_f82_runs_of_521_and_516_points():
    found = mean_of_series([(LONG, LONG * 1.0), (SHORT, SHORT + 2.0)])
    assert np.array_equal(found.steps, LONG)
    assert found.n.tolist() == [2] * 516 + [1] * 5
    assert np.array_equal(found.mean[:516], SHORT + 1.0)
    assert np.array_equal(found.mean[516:], LONG[516:])
    assert np.isnan(found.low[516:]).all()
    assert (found.low[:516] < found.mean[:516]).all()


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32), min_size=1, max_size=6),
    st.integers(1, 7),
)
def test_the_mean_of_identical_series_is_that_series_bit_for_bit(values, copies):
    values = np.array(values)
    found = mean_of_series([(np.arange(values.size), values)] * copies)
    assert found.mean.tobytes() == values.tobytes()
    if copies > 1:
        assert np.array_equal(found.low, found.mean)


def test_a_third_of_a_tenth_thrice():
    x = np.array([0.1, 0.7, 1 / 3])
    assert mean_of_series([(np.arange(3), x)] * 3).mean.tobytes() == x.tobytes()


def test_means_and_intervals_are_numpys_and_scipys():
    x = np.random.default_rng(0).normal(5, 1, (6, 4))
    found = mean_of_series([(np.array([8, 2, 4, 1]), row) for row in x])
    assert found.steps.tolist() == [1, 2, 4, 8]
    ordered = x[:, [3, 1, 2, 0]]
    expected = stats.ttest_1samp(ordered, 0).confidence_interval()
    assert found.mean == pytest.approx(ordered.mean(0))
    assert found.low == pytest.approx(expected.low)
    assert found.high == pytest.approx(expected.high)


def test_what_is_not_finite_is_left_out_and_counted():
    steps = np.array([0, 1, 2])
    found = mean_of_series([(steps, np.array([1.0, np.nan, np.inf])), (steps, np.array([3.0, 4.0, np.nan]))])
    assert found.n.tolist() == [2, 1, 0]
    assert found.mean[:2].tolist() == [2, 4]
    assert np.isnan(found.mean[2])


def test_unequal_steps_share_what_they_share():
    found = mean_of_series(
        [(np.array([0, 3]), np.array([1.0, 2.0])), (np.array([3, 5]), np.array([4.0, 6.0]))]
    )
    assert found.steps.tolist() == [0, 3, 5]
    assert found.n.tolist() == [1, 2, 1]
    assert found.mean.tolist() == [1, 3, 6]


def test_no_series_and_a_step_twice():
    assert mean_of_series([]).steps.size == 0
    assert mean_of_series([(np.empty(0), np.empty(0))]).mean.size == 0
    with pytest.raises(BadArgument, match="one value a step"):
        mean_of_series([(np.array([1, 1]), np.array([0.0, 1.0]))])
    with pytest.raises(BadArgument, match="one value a step"):
        mean_of_series([(np.array([1, 2]), np.array([0.0]))])
