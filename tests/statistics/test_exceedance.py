import math

import numpy as np
import pytest

from ontogeny.statistics.exceedance import draws_needed, exceedance_p
from ontogeny.vocabulary import Status


@pytest.mark.parametrize(("alpha", "draws"), [(0.05, 20), (0.01, 100), (0.001, 1000), (0.3, 3)])
def test_draws_needed_is_the_fewest_that_get_below_alpha(alpha, draws):
    assert draws_needed(alpha) == draws
    assert exceedance_p(1.0, np.zeros(draws), alpha=alpha).value == pytest.approx(1 / (draws + 1))
    assert 1 / (draws + 1) < alpha <= 1 / draws


def test_too_few_draws_are_refused_with_the_number_needed():
    reading = exceedance_p(1.0, np.zeros(99), alpha=0.01)
    assert reading.status is Status.N_TOO_SMALL
    assert math.isnan(reading.value)
    assert "100 are needed" in reading.reason


def test_a_draw_as_large_as_the_observed_counts_and_so_does_an_undefined_one():
    maxima = np.concatenate([np.zeros(97), [2.0, 5.0, np.nan]])
    reading = exceedance_p(2.0, maxima)
    assert reading.value == 4 / 101
    assert reading.n == 100


@pytest.mark.parametrize("observed", [math.nan, math.inf])
def test_an_observed_statistic_that_is_not_finite_has_no_p(observed):
    assert exceedance_p(observed, np.zeros(100)).status is Status.NONFINITE


def test_p_is_uniform_when_the_observed_is_one_more_draw():
    rng = np.random.default_rng(0)
    p = np.array([exceedance_p(x[0], x[1:]).value for x in rng.normal(size=(4000, 101))])
    for alpha in (0.01, 0.05, 0.2):
        assert np.mean(p < alpha) == pytest.approx(alpha, abs=4 * math.sqrt(alpha * (1 - alpha) / 4000))
