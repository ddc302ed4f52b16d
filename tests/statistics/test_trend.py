import numpy as np
import pytest

from ontogeny.statistics.trend import trend_and_changes, trends_over, without_outliers

STEPS = np.arange(1, 61)
CURVES = {
    "power law": (STEPS + 1.0) ** -0.37,
    "slow exponential": np.exp(-STEPS / 23.4),
    "fast exponential": np.exp(-STEPS / 3.3),
    "parabola in ln step": (np.log(STEPS) - 2) ** 2,
    "level": np.full(60, 3.0),
}


@pytest.mark.parametrize("name", CURVES)
def test_smooth_trends_are_their_own(name):
    curve = CURVES[name]
    assert np.abs(trends_over(STEPS).fit(curve) - curve).max() < 0.012
    noisy = curve + 0.01 * np.random.default_rng(0).normal(size=60)
    trend, changes = trend_and_changes(STEPS, noisy)
    assert np.abs(trend - curve).max() < 0.03
    assert not changes.any()


def test_many_series_are_each_by_itself():
    values = np.array([*CURVES.values()]) + 0.01 * np.random.default_rng(1).normal(size=(5, 60))
    together = trends_over(STEPS).fit(values)
    np.testing.assert_allclose(together, [trends_over(STEPS).fit(row) for row in values])


def test_changes_are_no_part_of_the_trend():
    rng = np.random.default_rng(2)
    values = 2.0 + 8.0 * (STEPS > 20) - 5.0 * (STEPS > 40) + 0.3 * rng.normal(size=60)
    trend, changes = trend_and_changes(STEPS, values)
    assert np.ptp(trend) < 0.5
    assert np.diff(changes)[[19, 39]] == pytest.approx([8, -5], abs=0.5)


def test_a_lone_spike_is_pulled_in_and_a_level_is_not():
    values = np.random.default_rng(3).normal(size=60)
    values[10] = 50
    values[30:] += 20
    clean = without_outliers(values)
    assert clean[10] < 8
    assert (clean[30:] > 15).all()
