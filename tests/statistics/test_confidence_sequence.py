"""STA-07: against confseq, the values of the design, and simulation."""

import json
from pathlib import Path

import numpy as np
import pytest

from ontogeny.errors import BadArgument
from ontogeny.statistics.confidence_sequence import asymptotic_sequence, bernstein_sequence

ORACLE = json.loads((Path(__file__).parents[1] / "oracles" / "confseq_sequences.json").read_text())


def test_the_widths_of_the_table():
    values = np.tile([1.0, -1.0], 500)
    found = asymptotic_sequence(values)
    half = (found.high - found.low) / 2
    assert half[99] == pytest.approx(0.3035, abs=5e-5)
    assert half[999] == pytest.approx(0.1027, abs=5e-5)
    assert half[99] / (1.959964 / 10) == pytest.approx(1.55, abs=5e-3)
    assert half[99] < asymptotic_sequence(values, optimal=1000).high[99], "made for another look"


def test_nothing_is_said_too_early_or_of_equal_values():
    found = asymptotic_sequence(np.r_[np.full(40, 0.1), 0.2, np.full(10, 0.1)])
    assert np.isnan(found.low[:40]).all()
    assert np.isfinite(found.low[40:]).all()
    assert np.isnan(asymptotic_sequence(np.arange(50.0)).high[:29]).all()
    assert np.isfinite(asymptotic_sequence(np.arange(50.0)).high[29])
    assert found.centre[39] == pytest.approx(0.1)


def test_a_large_mean_does_not_drown_the_spread():
    values = np.random.default_rng(0).normal(size=200)
    plain, far = asymptotic_sequence(values), asymptotic_sequence(values + 1e9)
    assert far.high - far.centre == pytest.approx(plain.high - plain.centre, rel=1e-4, nan_ok=True)


@pytest.mark.parametrize("case", ORACLE["sequences"])
def test_confseq_agrees(case):
    values, population = np.array(case["values"]), case["population"]
    found = bernstein_sequence(values, alpha=ORACLE["alpha"], population=population)
    t, total = np.arange(1, len(values) + 1), np.cumsum(values)
    least, most = (
        (0, 1) if population is None else (total / population, (total + population - t) / population)
    )
    assert found.low == pytest.approx(np.maximum(case["low"], least))
    assert found.high == pytest.approx(np.minimum(case["high"], most))


def test_both_sides_are_mirrors_and_contain_the_centre():
    values = np.random.default_rng(1).beta(0.5, 2, 300)
    found, mirrored = bernstein_sequence(values), bernstein_sequence(1 - values)
    assert found.low == pytest.approx(1 - mirrored.high)
    assert ((found.low <= found.centre) & (found.centre <= found.high)).all()


def test_a_constant_and_a_whole_population():
    assert bernstein_sequence(np.ones(73)).low[-1] == pytest.approx(0.8968, abs=5e-5)
    values = np.random.default_rng(2).uniform(size=60)
    whole = bernstein_sequence(values, population=60)
    assert [whole.low[-1], whole.high[-1]] == pytest.approx([values.mean()] * 2)
    endless = bernstein_sequence(values)
    assert (whole.high - whole.low <= endless.high - endless.low + 1e-12).all()


@pytest.mark.parametrize("mean", [0.5, 0.9])
def test_all_looks_together_miss_at_most_alpha(mean):
    rng = np.random.default_rng(3)
    values = (rng.uniform(size=(300, 500)) < mean).astype(float)
    found = bernstein_sequence(values)
    missed = ((found.low > mean) | (found.high < mean)).any(1).mean()
    assert missed <= 0.06
    population = np.tile(np.arange(200) < 200 * mean, (300, 1)).astype(float)
    found = bernstein_sequence(rng.permuted(population, axis=1), population=200)
    assert ((found.low > mean + 1e-9) | (found.high < mean - 1e-9)).any(1).mean() <= 0.06
    normal = asymptotic_sequence(rng.normal(mean, 1, size=(300, 500)))
    assert ((normal.low > mean) | (normal.high < mean)).any(1).mean() <= 0.08


@pytest.mark.parametrize("sequence", [asymptotic_sequence, bernstein_sequence])
def test_what_is_no_score_is_refused(sequence):
    with pytest.raises(BadArgument, match="finite"):
        sequence(np.array([0.5, np.nan]))
    with pytest.raises(BadArgument, match="finite"):
        sequence(np.array(0.5))
    assert sequence(np.empty(0)).low.size == 0


def test_scores_are_bounded_and_no_more_than_there_are():
    with pytest.raises(BadArgument, match="from 0 to 1"):
        bernstein_sequence(np.array([0.5, 1.1]))
    with pytest.raises(BadArgument, match="population"):
        bernstein_sequence(np.ones(4), population=3)
