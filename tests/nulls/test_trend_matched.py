import numpy as np
import pytest

from ontogeny.nulls import trend_matched

STEPS = np.arange(1, 61)
CURVES = {
    "power law": 3 * (STEPS + 1.0) ** -0.5,
    "exponential": np.exp(-STEPS / 12),
    "straight": STEPS / 60,
    "level": np.full(60, 2.0),
}


@pytest.mark.parametrize("name", CURVES)
def test_draws_lie_around_the_trend_with_the_noise_of_the_series(name):
    noise = 0.05 * np.random.default_rng(0).normal(size=60)
    draws = trend_matched(STEPS, CURVES[name] + noise, draws=400)
    off = draws.mean(axis=0) - CURVES[name]
    assert np.abs(off).max() < 0.06
    assert draws.std(axis=0).mean() == pytest.approx(0.05, rel=0.3)


def test_a_step_is_not_in_it():
    series = np.random.default_rng(1).normal(size=60) + 8 * (STEPS > 30)
    draws = trend_matched(STEPS, series)
    steepest = np.abs(draws[:, 31:36].mean(1) - draws[:, 25:30].mean(1))
    assert steepest.max() < 6
