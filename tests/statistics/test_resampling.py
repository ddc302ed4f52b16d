import numpy as np
import pytest
import scipy.special

from ontogeny.statistics.resampling import resampled_crossings

POSITIONS = np.linspace(0, 8, 81)
CURVE = scipy.special.expit(4 * (POSITIONS - 4))
WINDOWS = slice(0, 10), slice(60, 81)


def crossings(residuals, noise, draws=400, seed=0):
    return resampled_crossings(
        POSITIONS, CURVE, residuals, noise=noise, windows=WINDOWS, hold=3, draws=draws, seed=seed
    )


def test_without_residuals_every_draw_crosses_where_the_curve_does():
    found = crossings(np.zeros(81), np.full(81, 0.1))
    assert found.size == 400
    assert found == pytest.approx(4.0, abs=0.01)


def test_the_same_seed_gives_the_same_draws_and_another_does_not():
    residuals = 0.05 * np.random.default_rng(0).normal(size=81)
    noise = np.full(81, 0.05)
    np.testing.assert_array_equal(crossings(residuals, noise), crossings(residuals, noise))
    assert not np.array_equal(crossings(residuals, noise), crossings(residuals, noise, seed=1))


def test_its_spread_is_that_of_fresh_noise():
    rng = np.random.default_rng(3)
    sd = 0.05
    spreads = [np.std(crossings(sd * rng.normal(size=81), np.full(81, sd))) for _ in range(20)]
    fresh = np.std(crossings(rng.normal(size=4000)[:81], np.full(81, sd), draws=4000))
    assert np.mean(spreads) == pytest.approx(fresh, rel=0.25)
    # The slope at the half is 1, so noise of 0.05 moves the crossing by about as much.
    assert 0.02 < fresh < 0.08


def test_noise_only_where_it_is_local():
    residuals = np.random.default_rng(0).normal(size=81)
    quiet = np.where(POSITIONS > 5, 0.02, 0.0)
    assert np.ptp(crossings(residuals, quiet)) < 0.02
