import numpy as np

from ontogeny.nulls import monotone

STEPS = np.arange(1, 61)


def test_a_peak_becomes_a_rise_to_a_level():
    peak = 10 * np.exp(-(((STEPS - 30) / 8) ** 2)) + 0.1 * np.random.default_rng(0).normal(size=60)
    middle = monotone(STEPS, peak).mean(axis=0)
    turned = np.diff(middle)
    assert (turned > -0.3).all() or (turned < 0.3).all()
    assert np.ptp(middle) > 2


def test_a_rise_stays_with_its_noise():
    rise = STEPS / 60 + 0.1 * np.random.default_rng(1).normal(size=60)
    draws = monotone(STEPS, rise)
    assert np.abs(draws.mean(axis=0) - STEPS / 60).max() < 0.15
    assert 0.06 < draws.std(axis=0).mean() < 0.25
