"""STA-04: against pingouin, statsmodels' confidence interval, and simulation."""

import json
from pathlib import Path

import numpy as np
import pytest

from ontogeny.errors import BadArgument
from ontogeny.statistics.equivalence import equivalence

ORACLE = json.loads((Path(__file__).parents[1] / "oracles" / "pingouin_tests.json").read_text())


def test_the_packages_own_example():
    found = equivalence(np.array([6.0, 8, 7, 10, 11, 9]), np.array([4.0, 7, 8, 6, 3, 2]), margin=1.0)
    assert found.p.value == pytest.approx(0.965097, abs=5e-7)
    assert not found.equivalent


@pytest.mark.parametrize("case", ORACLE["tost"])
def test_pingouin_agrees(case):
    found = equivalence(
        np.array(case["control"]), np.array(case["treatment"]), margin=case["margin"], paired=case["paired"]
    )
    assert found.p.value == pytest.approx(case["p"])


@pytest.mark.parametrize("paired", [False, True])
def test_claimed_where_the_interval_lies_inside_the_margin(paired):
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(60):
        control, treatment = rng.normal(size=(2, 12))
        found = equivalence(control, treatment, margin=0.9, paired=paired, alpha=0.1)
        inside = found.difference.low > -0.9 and found.difference.high < 0.9
        assert found.equivalent == inside == (found.p.value < 0.1)
        seen.add(found.equivalent)
    assert seen == {True, False}


def test_the_margin_is_half_the_controls_spread():
    control, treatment = np.random.default_rng(1).normal(size=(2, 9))
    assert equivalence(control, treatment).margin == pytest.approx(control.std(ddof=1) / 2)


def test_at_the_margin_it_errs_as_often_as_alpha():
    rng = np.random.default_rng(2)
    claims = [
        equivalence(rng.normal(size=40), rng.normal(0.8, 1, 40), margin=0.8).equivalent for _ in range(400)
    ]
    assert np.mean(claims) == pytest.approx(0.05, abs=0.03)


@pytest.mark.parametrize("paired", [False, True])
def test_too_little_says_so(paired):
    one = equivalence(np.array([1.0, np.nan]), np.array([1.0, 2.0]), paired=paired)
    assert (one.p.status, one.equivalent) == ("n-too-small", False)
    assert "2 are needed" in one.p.reason
    equal = equivalence(np.ones(5), np.ones(5), paired=paired)
    assert equal.p.status == "constant-input"
    twins = equivalence(np.arange(5.0), np.arange(5.0), paired=True)
    assert twins.p.status == "constant-input"
    assert "differences do not vary" in twins.p.reason


def test_pairs_need_partners_and_margins_size():
    with pytest.raises(BadArgument, match="partner"):
        equivalence(np.ones(3), np.ones(4), paired=True)
    for margin in (0.0, -1.0, np.nan):
        with pytest.raises(BadArgument, match="above 0"):
            equivalence(np.ones(3), np.ones(3), margin=margin)


def test_what_is_not_finite_is_left_out_with_its_pair():
    control, treatment = np.random.default_rng(3).normal(size=(2, 8))
    broken = treatment.copy()
    broken[2] = np.nan
    found = equivalence(control, broken, margin=1.0, paired=True)
    kept = equivalence(np.delete(control, 2), np.delete(treatment, 2), margin=1.0, paired=True)
    assert found.p.value == kept.p.value
    assert found.p.n == 7
