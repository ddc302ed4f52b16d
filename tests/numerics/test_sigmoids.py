import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st

from ontogeny.numerics.sigmoids import Sigmoids, fitted_sigmoids

X = np.log10([1, 2, 4, 8, 16, 32, 64, *range(96, 1001, 32)])


def sigmoid(start, end, middle, scale, x=X):
    return start + (end - start) / (1 + np.exp((middle - x) / scale))


@settings(deadline=None, max_examples=40)
@given(
    start=st.floats(5, 16),
    end=st.floats(0, 4),
    middle=st.floats(0.6, 2.6),
    scale=st.floats(0.08, 0.6),
)
def test_a_curve_without_noise_is_recovered(start, end, middle, scale):
    y = sigmoid(start, end, middle, scale)
    found = fitted_sigmoids(X, y[None])
    level = np.array([(start + end) / 2])
    assert found.crossing(level)[0] == pytest.approx(middle, abs=1e-3)
    assert found.at(X)[0] == pytest.approx(y, abs=1e-3)
    assert found.fit[0] == pytest.approx(1, abs=1e-6)


def test_known_parameters_come_back():
    found = fitted_sigmoids(X, sigmoid(15.617, 2.5, 1.7, 0.2)[None])
    assert [float(one[0]) for one in found[:4]] == pytest.approx([15.617, 2.5, 1.7, 0.2], abs=1e-3)


def test_noisy_curves_are_fitted_no_worse_than_by_scipy():
    rng = np.random.default_rng(0)
    for _ in range(10):
        truth = rng.uniform([8, 1, 1.0, 0.1], [12, 4, 2.5, 0.5])
        y = sigmoid(*truth) + 0.2 * rng.normal(size=len(X))
        theirs, _ = scipy.optimize.curve_fit(lambda x, *p: sigmoid(*p, x=x), X, y, p0=truth, maxfev=20_000)
        left = np.square(y - sigmoid(*theirs)).sum()
        ours = np.square(y - fitted_sigmoids(X, y[None]).at(X)[0]).sum()
        assert ours <= left * 1.001


def test_rows_do_not_touch_and_scale_carries_over():
    rng = np.random.default_rng(1)
    y = np.stack([sigmoid(10, 2, 1.5, 0.2), sigmoid(9, 8, 2, 0.4)]) + 0.1 * rng.normal(size=(2, len(X)))
    both = fitted_sigmoids(X, y)
    alone = fitted_sigmoids(X, y[1:])
    assert [one[1] for one in both] == pytest.approx([one[0] for one in alone], rel=1e-6)
    scaled = fitted_sigmoids(X, 1e3 * y)
    assert scaled.middle == pytest.approx(both.middle, abs=1e-4)
    assert scaled.end == pytest.approx(1e3 * both.end, rel=1e-4)


def test_what_has_no_curve_says_so():
    y = np.stack([np.full(len(X), 3.0), np.where(X > 2, np.nan, 1.0), sigmoid(9, 1, 1.5, 0.2)])
    found = fitted_sigmoids(X, y)
    assert np.isnan(found.fit[:2]).all()
    assert found.fit[2] > 0.999
    assert np.isnan(found.middle[1])
    assert found.at(X)[0] == pytest.approx(3)
    assert len(fitted_sigmoids(X, y[:0]).fit) == 0


def test_a_level_a_curve_never_has_is_not_crossed():
    flat = Sigmoids(*(np.array([value]) for value in (5.0, 1.0, 1.0, 0.1, 1.0)))
    assert flat.crossing(np.array([3.0]))[0] == pytest.approx(1)
    assert np.isnan(flat.crossing(np.array([6.0]))[0])
