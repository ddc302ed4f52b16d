"""STA-06: against pingouin, and the values of the design."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from ontogeny.errors import BadArgument
from ontogeny.statistics.repeated_measures import repeated_measures

ORACLE = json.loads((Path(__file__).parents[1] / "oracles" / "pingouin_tests.json").read_text())


@pytest.mark.parametrize("case", ORACLE["anova"])
def test_pingouin_agrees(case):
    found = repeated_measures(np.array(case["values"]))
    assert found.f.value == pytest.approx(case["f"])
    assert found.epsilon.value == pytest.approx(case["epsilon"])
    assert found.p_spherical.value == pytest.approx(case["p"])
    assert found.p.value == pytest.approx(case["p_corrected"])


def shaped(covariance: np.ndarray, runs: int = 50) -> np.ndarray:
    """Values whose sample covariance is exactly this."""
    k = len(covariance)
    white = np.random.default_rng(0).normal(size=(runs, k))
    white = white - white.mean(0)
    white = white @ np.linalg.inv(np.linalg.cholesky(white.T @ white / (runs - 1))).T
    return white @ np.linalg.cholesky(covariance).T


def test_equal_correlations_are_spherical():
    found = repeated_measures(shaped(0.6 + 0.4 * np.eye(5)) + np.arange(5))
    assert found.epsilon.value == pytest.approx(1)
    assert found.p.value == pytest.approx(found.p_spherical.value)
    assert found.freedom == pytest.approx((4, 4 * 49))


def test_a_memory_of_nine_tenths():
    memory = 0.9 ** np.abs(np.subtract.outer(range(4), range(4)))
    assert repeated_measures(shaped(memory)).epsilon.value == pytest.approx(0.682, abs=2e-3)


def test_the_lower_bound_is_one_direction():
    rng = np.random.default_rng(1)
    values = np.outer(rng.normal(size=9), [1.0, -2, 3, 0]) + rng.normal(size=(9, 1))
    assert repeated_measures(values).epsilon.value == pytest.approx(1 / 3)


def test_two_levels_are_a_paired_t_test():
    values = np.random.default_rng(2).normal(size=(8, 2)) + np.array([0, 0.5])
    found, t = repeated_measures(values), stats.ttest_rel(*values.T)
    assert found.f.value == pytest.approx(t.statistic**2)
    assert found.p.value == pytest.approx(t.pvalue)
    assert found.epsilon.value == pytest.approx(1)


@pytest.mark.parametrize(
    ("values", "status", "said"),
    [
        (np.ones((1, 4)), "n-too-small", "1 run"),
        (np.ones((4, 1)), "too-short", "1 level"),
        (np.ones((4, 3)), "constant-input", "no error"),
        (np.arange(4.0)[:, None] + np.arange(3), "constant-input", "no error"),
        (np.tile([0.1, 0.7, 0.3], (2, 1)), "constant-input", "no error"),
        (np.array([[1.0, np.nan, 2], [0, 1, 5]]), "nonfinite", "balanced data only"),
    ],
)
def test_too_little_says_so(values, status, said):
    found = repeated_measures(values)
    assert {one.status for one in (found.f, found.p, found.epsilon, found.p_spherical)} == {status}
    assert said in found.p.reason


def test_two_axes():
    with pytest.raises(BadArgument, match="run, level"):
        repeated_measures(np.ones(4))
