import numpy as np
import pytest

from ontogeny.numerics.smoothing import first_crossing, smoothed

X = np.log10([1, 2, 4, 8, 16, 32, 64, *range(96, 1001, 32)])
AT = np.linspace(X[0], X[-1], 300)


def test_straight_lines_are_kept():
    lines = np.stack([3 - X, 0 * X + 2])
    assert smoothed(X, lines, AT) == pytest.approx(np.stack([3 - AT, 0 * AT + 2]), abs=1e-6)


def test_noise_is_taken_out_and_the_curve_left():
    rng = np.random.default_rng(0)
    x = np.linspace(0, 3, 120)
    curve = 6 - 4 / (1 + np.exp((1.5 - x) / 0.2))
    read = smoothed(x, curve + 0.2 * rng.normal(size=(20, 120)), x)
    assert np.abs(read - curve).mean() < 0.08


def test_rows_do_not_touch_and_scale_carries_over():
    rng = np.random.default_rng(1)
    y = rng.normal(size=(3, len(X)))
    whole = smoothed(X, y, AT)
    assert smoothed(X, y[1:2], AT)[0] == pytest.approx(whole[1])
    assert smoothed(X, 100 * y + 7, AT) == pytest.approx(100 * whole + 7, abs=1e-6)


def test_a_broken_curve_stays_broken_alone():
    y = np.stack([3 - X, np.where(X > 2, np.nan, X)])
    read = smoothed(X, y, AT)
    assert np.isnan(read[1]).all()
    assert np.isfinite(read[0]).all()


def test_first_crossing():
    curves = np.stack([3 - AT, 5 + 0 * AT])
    found = first_crossing(AT, curves, np.array([2.0, 4.0]))
    assert found[0] == pytest.approx(1, abs=0.02)
    assert np.isnan(found[1])
