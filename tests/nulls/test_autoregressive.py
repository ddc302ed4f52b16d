import numpy as np
import pytest

from ontogeny.nulls import autoregressive
from ontogeny.statistics.autoregression import noise_memory

STEPS = np.arange(1, 201)


def remembering(phi, seed=0, points=200):
    rng, series = np.random.default_rng(seed), np.zeros(points + 100)
    for index in range(1, series.size):
        series[index] = phi * series[index - 1] + np.sqrt(1 - phi**2) * rng.normal()
    return series[100:]


@pytest.mark.parametrize("phi", [0.0, 0.7])
def test_draws_have_the_level_the_size_and_the_memory_of_the_series(phi):
    draws = autoregressive(STEPS, 5 + 2 * remembering(phi), draws=400)
    assert draws.shape == (400, 200)
    assert draws.mean() == pytest.approx(5, abs=1)
    assert draws.std() == pytest.approx(2, rel=0.35)
    assert noise_memory(draws).mean() == pytest.approx(phi, abs=0.15)


def test_a_step_is_no_part_of_it():
    series = np.random.default_rng(1).normal(size=200) + 4 * (STEPS > 100)
    draws = autoregressive(STEPS, series)
    halves = draws[:, :100].mean(1) - draws[:, 100:].mean(1)
    assert np.abs(halves).max() < 2
    assert draws.std() < 1.3
