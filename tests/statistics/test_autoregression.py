import numpy as np
import pytest

from ontogeny.statistics.autoregression import autoregressive_noise, inflation, noise_memory, noise_sd


def remembering(phi, rows=300, points=120, seed=0):
    rng = np.random.default_rng(seed)
    return autoregressive_noise(rng.normal(size=5000), phi, 1.0, draws=rows, points=points, rng=rng)


@pytest.mark.parametrize("phi", [0.5, 0.7, 0.9])
def test_memory_and_size_are_read_back(phi):
    series = remembering(phi)
    read = noise_memory(series)
    assert np.mean(read) == pytest.approx(phi, abs=0.06)
    assert np.median(noise_sd(series, read)) == pytest.approx(1, rel=0.1)


def test_a_step_is_hardly_memory():
    series = remembering(0.0)
    series[:, 60:] += 4
    assert np.mean(noise_memory(series)) < 0.15
    assert np.corrcoef(series[0, 1:], series[0, :-1])[0, 1] > 0.6


def test_what_is_constant_or_short_remembers_nothing():
    assert noise_memory(np.ones(50)) == 0
    assert noise_memory(np.arange(7.0)) == 0
    assert noise_memory(np.arange(50.0)) == 0.95


def test_the_mean_of_remembering_noise_varies_by_the_inflation():
    series = remembering(0.7, rows=2000, points=400)
    assert series.mean(axis=1).var() * 400 == pytest.approx(float(inflation(0.7)), rel=0.1)
