import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontogeny.statistics.noise import lasting_spread, memory, noise_scale, spread
from ontogeny.vocabulary import Status

POSITIONS = np.log([0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, *range(550, 1000, 50)])


def typical(make, estimate, repeats=300):
    rng = np.random.default_rng(0)
    return np.median([estimate(make(rng)) for _ in range(repeats)])


def of_series(values):
    return noise_scale(POSITIONS, values).value


def autoregressive(rng, n, phi):
    values = np.zeros(n + 50)
    for i in range(1, n + 50):
        values[i] = phi * values[i - 1] + np.sqrt(1 - phi**2) * rng.normal()
    return values[50:]


def test_white_noise_reads_its_own_sd_at_unequal_positions():
    assert typical(lambda rng: 3 * rng.normal(size=20), of_series) == pytest.approx(3, rel=0.1)


def test_noise_with_a_memory_reads_low_as_documented():
    assert typical(lambda rng: autoregressive(rng, 20, 0.7), of_series) == pytest.approx(0.46, abs=0.05)
    assert typical(lambda rng: rng.normal(size=20).cumsum(), of_series) == pytest.approx(0.56, abs=0.05)


@pytest.mark.parametrize("drift", [POSITIONS, POSITIONS**2, np.sin(POSITIONS / 3)])
def test_smooth_drift_of_twenty_sds_is_not_noise(drift):
    def drifting(rng):
        return 6 * drift / np.ptp(drift) + 0.3 * rng.normal(size=20)

    assert typical(drifting, of_series) == pytest.approx(0.3, rel=0.15)


def test_spikes_move_it_little():
    rng = np.random.default_rng(1)
    values = rng.normal(size=20)
    spiked = values.copy()
    spiked[7] = 1e6
    assert of_series(spiked) < 2 * of_series(values)


@pytest.mark.parametrize("level", [0.0, 0.1, 1e-30, -1e30])
def test_a_constant_stretch_has_the_floor_and_nothing_below(level):
    assert of_series(np.full(20, level)) == pytest.approx(1e-6 * abs(level))
    assert noise_scale(POSITIONS, np.full(20, level), largest=2.0).value >= 2e-6


def test_a_straight_line_has_the_floor():
    assert of_series(2 + 3 * POSITIONS) == pytest.approx(1e-6 * np.abs(2 + 3 * POSITIONS).max())


def test_values_that_mostly_repeat_keep_a_noise():
    values = np.zeros(20)
    values[[4, 13]] = 1.0
    assert of_series(values) > 0.05


def test_too_few_or_nonfinite_points_have_no_noise():
    assert noise_scale(POSITIONS[:4], np.arange(4.0)).status is Status.TOO_SHORT
    bad = np.arange(20.0)
    bad[3] = np.nan
    reading = noise_scale(POSITIONS, bad)
    assert reading.status is Status.NONFINITE
    assert "1 of 20" in reading.reason


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.floats(1e-3, 1e3), st.floats(-10, 10))
def test_scale_multiplies_and_a_shift_does_nothing(seed, scale, shift):
    values = np.random.default_rng(seed).normal(size=20)
    assert of_series(scale * values) == pytest.approx(scale * of_series(values), rel=1e-9)
    assert of_series(values + shift) == pytest.approx(of_series(values), rel=1e-6)


def test_spread_of_normals_and_of_nothing():
    assert spread(np.random.default_rng(0).normal(size=100_000)) == pytest.approx(0.99, abs=0.01)
    assert spread(np.zeros(5)) == 0
    assert np.isnan(spread(np.zeros(0)))
    # Beside noise that is nearly 0 residuals are boundless: their squares must not be taken.
    normals = np.random.default_rng(0).normal(size=1000)
    for size in (1e-250, 1e250):
        assert spread(normals * size) == pytest.approx(spread(normals) * size, rel=1e-12)


def test_memory_is_told_from_white_noise():
    assert typical(lambda rng: rng.normal(size=40), memory) < 0.1
    assert typical(lambda rng: rng.normal(size=40).cumsum(), memory) > 0.6
    assert memory(np.zeros(10)) == 0
    assert memory(np.arange(1000.0)) == 0.9


def test_lasting_spread_is_the_white_noise_that_blurs_a_mean_as_much():
    rng = np.random.default_rng(0)
    phi = 0.7
    blur = np.std([autoregressive(rng, 400, phi).mean() for _ in range(200)]) * np.sqrt(400)
    assert blur == pytest.approx(np.sqrt((1 + phi) / (1 - phi)), rel=0.15)
    assert lasting_spread(autoregressive(rng, 4000, phi)) == pytest.approx(blur, rel=0.2)
