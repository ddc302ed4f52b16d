"""STA-05: runs, then documents within runs."""

import numpy as np
import pytest
from scipy import stats

from ontogeny.errors import BadArgument
from ontogeny.statistics import two_level_bootstrap as module
from ontogeny.statistics.two_level_bootstrap import mean_of_runs, two_level_bootstrap


def drawn(seed: int, runs: int, documents: int, between: float = 1.0, within: float = 2.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(0, between, (runs, 1)) + rng.normal(0, within, (runs, documents))


def test_the_variance_of_the_mean_has_both_levels():
    values = drawn(0, 40, 6)
    found = two_level_bootstrap(values, method="percentile")
    own = values.mean(1)
    # What the draws vary by: runs with their documents, then these documents again.
    expected = own.var() / 40 + values.var(1).mean() / (40 * 6)
    width = (found.estimate.high - found.estimate.low) / (2 * stats.norm.ppf(0.975))
    assert width**2 == pytest.approx(expected, rel=0.06)
    assert found.estimate.value == pytest.approx(own.mean())


def test_one_document_a_run_is_scipys_bootstrap():
    values = np.random.default_rng(1).exponential(size=(25, 1))
    for method in ("percentile", "BCa"):
        theirs = stats.bootstrap((values[:, 0],), np.mean, method=method, rng=np.random.default_rng(2))
        found = two_level_bootstrap(values, method=method).estimate
        expected = list(theirs.confidence_interval)
        assert [found.low, found.high] == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize(
    ("runs", "method"), [(2, "t"), (9, "t"), (10, "percentile"), (19, "percentile"), (20, "BCa")]
)
def test_the_method_follows_the_number_of_runs(runs, method):
    values = drawn(2, runs, 5)
    found = two_level_bootstrap(values, draws=200)
    assert (found.method, found.estimate.n) == (method, runs)
    assert found.estimate.low < found.estimate.value < found.estimate.high
    if method == "t":
        expected = stats.ttest_1samp(values.mean(1), 0).confidence_interval()
        assert [found.estimate.low, found.estimate.high] == pytest.approx(list(expected))


def test_runs_may_have_unequal_documents():
    values = drawn(3, 12, 8)
    values[0, 3:] = np.nan
    values[5] = np.nan
    found = two_level_bootstrap(values, draws=500)
    assert found.estimate.n == 11
    kept = np.delete(values, 5, 0)
    assert found.estimate.value == pytest.approx(np.nanmean(kept, axis=1).mean())
    # A run of equal documents gives the same mean however they are drawn, so NaN were never drawn.
    flat = np.where(np.isnan(values), np.nan, np.arange(12.0)[:, None])
    limits = two_level_bootstrap(flat, draws=500).estimate
    assert 0 < limits.low < limits.high < 11


def test_any_statistic_and_any_cut(monkeypatch):
    values = drawn(4, 12, 5)

    def worst(values):
        return values.mean(-1).min(-1)

    whole = two_level_bootstrap(values, statistic=worst, draws=300)
    assert whole.estimate.value == values.mean(1).min()
    assert whole.estimate.low <= whole.estimate.value <= whole.estimate.high
    monkeypatch.setattr(module, "AT_ONCE", 600)
    again = two_level_bootstrap(values, statistic=worst, draws=300)
    assert again.estimate.low == pytest.approx(whole.estimate.low, abs=0.5)
    assert two_level_bootstrap(values, draws=300) == two_level_bootstrap(values, draws=300)


def test_few_runs_are_undercovered_by_percentiles_and_not_by_t():
    covered = {"t": 0, "percentile": 0}
    for seed in range(300):
        values = drawn(seed, 5, 4, within=1.0)
        for method in covered:
            found = two_level_bootstrap(values, method=method, draws=400).estimate
            covered[method] += found.low <= 0 <= found.high
    assert 0.8 < covered["percentile"] / 300 < 0.92 < covered["t"] / 300 <= 0.98


def test_too_little_says_so():
    assert two_level_bootstrap(np.empty((0, 4))).estimate.status == "no-target"
    assert two_level_bootstrap(np.full((3, 4), np.nan)).estimate.status == "no-target"
    one = two_level_bootstrap(np.array([[1.0, 3.0]]))
    assert (one.estimate.value, one.estimate.low, one.method) == (2, None, "")
    assert "one run" in one.estimate.reason
    assert two_level_bootstrap(np.array([[1.0, np.inf], [1, 2]])).estimate.status == "nonfinite"
    for runs in (2, 12, 25):
        equal = two_level_bootstrap(np.ones((runs, 3)), draws=50).estimate
        assert (equal.value, equal.low, equal.high) == (1, 1, 1)
        assert "no spread" in equal.reason
    with pytest.raises(BadArgument, match="run, document"):
        two_level_bootstrap(np.ones(4))


def test_the_mean_skips_what_is_no_document():
    assert mean_of_runs(np.array([[[1.0, np.nan], [2.0, 4.0]]])) == pytest.approx([2.0])
