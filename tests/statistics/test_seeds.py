"""STA-08: counts of seeds, against statsmodels and the table of the design."""

import math

import numpy as np
import pytest
from statsmodels.stats.power import TTestIndPower, TTestPower

from ontogeny.statistics.seeds import seeds_needed, seeds_to_show, spread_bound, t_power

TABLE = [(2.0, 6, 5), (1.5, 9, 6), (1.0, 17, 10), (0.8, 26, 15), (0.5, 64, 34)]


@pytest.mark.parametrize(("size", "arm", "pairs"), TABLE)
def test_the_table(size, arm, pairs):
    assert (seeds_needed(size), seeds_needed(size, paired=True)) == (arm, pairs)
    assert t_power(size, arm) >= 0.8 > t_power(size, arm - 1)


@pytest.mark.parametrize(("size", "arm", "pairs"), TABLE)
@pytest.mark.parametrize(("alpha", "power"), [(0.05, 0.8), (0.01, 0.9)])
def test_statsmodels_agrees(size, arm, pairs, alpha, power):
    for paired, theirs in ((False, TTestIndPower()), (True, TTestPower())):
        assert t_power(size, 12, alpha, paired=paired) == pytest.approx(theirs.power(size, 12, alpha))
        found = theirs.solve_power(size, alpha=alpha, power=power)
        assert seeds_needed(size, alpha, power, paired=paired) == math.ceil(found)


def test_no_number_of_seeds_shows_nothing_and_two_show_what_is_huge():
    for paired in (False, True):
        assert seeds_needed(0.0, paired=paired) is None
        assert seeds_needed(1e-9, paired=paired) is None
        assert seeds_needed(1e3, paired=paired) == 2
        assert t_power(0.0, 20, paired=paired) == pytest.approx(0.05)


def test_claims_divide_alpha():
    assert seeds_needed(1.0, claims=5) == seeds_needed(1.0, alpha=0.01) > seeds_needed(1.0)


def test_power_is_what_simulation_finds():
    x = np.random.default_rng(0).normal(1, 1, (4000, 10))
    t = x.mean(1) / x.std(1, ddof=1) * 10**0.5
    assert (np.abs(t) > 2.2622).mean() == pytest.approx(t_power(1.0, 10, paired=True), abs=0.02)


def test_few_seeds_are_not_trusted_with_their_spread():
    assert [spread_bound(1.0, n) for n in (3, 5, 6)] == pytest.approx([2.117, 1.558, 1.0], abs=1e-3)
    sds = np.random.default_rng(1).normal(size=(4000, 4)).std(1, ddof=1)
    covered = np.mean([spread_bound(sd, 4) >= 1 for sd in sds])
    assert covered == pytest.approx(0.8, abs=0.02)


def test_what_a_pilot_says():
    assert seeds_to_show(0.5, 0.5, 20).value == 17
    assert seeds_to_show(-0.5, 0.5, 4).value == seeds_needed(1 / spread_bound(1.0, 4))
    assert seeds_to_show(5.0, 0.1, 20).value == 4, "the exact test cannot do with fewer"
    assert seeds_to_show(5.0, 0.1, 20, paired=True).value == 6
    assert seeds_to_show(1.0, 0.0, 8).value == 4
    assert seeds_to_show(0.5, 0.5, 20, claims=5).value == seeds_needed(1.0, 0.01)


@pytest.mark.parametrize(
    ("difference", "sd", "pilot", "status"),
    [
        (0.5, 0.0, 1, "n-too-small"),
        (0.5, 0.0, 0, "n-too-small"),
        (0.0, 1.0, 5, "no-target"),
        (math.nan, 1.0, 5, "nonfinite"),
        (1.0, math.inf, 5, "nonfinite"),
        (1e-6, 1.0, 9, "over-budget"),
    ],
)
def test_what_cannot_be_counted(difference, sd, pilot, status):
    found = seeds_to_show(difference, sd, pilot)
    assert found.status == status
    assert found.reason
    assert "6 at 2, 17 at 1, 64 at 0.5" in seeds_to_show(0.5, 0.0, 1).reason
