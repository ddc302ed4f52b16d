import numpy as np
import pytest
import statsmodels.api as sm

from ontogeny.statistics.posterior import shape_weights, weighted_interval, whitened


def test_sizes_are_those_of_the_regression():
    rng = np.random.default_rng(0)
    curves, values = rng.normal(size=(3, 30)), rng.normal(size=30)
    _, sizes = shape_weights(curves, np.ones((1, 30)), values, 0.0)
    for curve, size in zip(curves, sizes, strict=True):
        assert size == pytest.approx(sm.OLS(values, sm.add_constant(curve)).fit().params[1])


def test_the_curve_that_is_followed_has_the_weight():
    curves = np.random.default_rng(1).normal(size=(5, 40))
    weights, sizes = shape_weights(curves, np.ones((1, 40)), 3 * curves[2] + 7, 0.5)
    assert weights[2] == pytest.approx(1)
    assert sizes[2] == pytest.approx(3)


def test_a_curve_the_nuisance_makes_weighs_nothing():
    curves = np.array([np.ones(20), np.arange(20.0)])
    weights, _ = shape_weights(curves, np.ones((1, 20)), np.random.default_rng(2).normal(size=20), 0.0)
    assert weights.tolist() == [0, 1]


def test_quantiles_of_weights():
    middle, low, high = weighted_interval(np.arange(101.0), np.ones(101), 0.9)
    assert (middle, low, high) == pytest.approx((50, 5, 95), abs=0.6)


def test_whitening_leaves_the_shocks():
    shocks = np.random.default_rng(3).normal(size=50)
    series = np.zeros(50)
    series[0] = shocks[0] / np.sqrt(1 - 0.6**2)
    for index in range(1, 50):
        series[index] = 0.6 * series[index - 1] + shocks[index]
    assert whitened(series, 0.6) == pytest.approx(shocks)
