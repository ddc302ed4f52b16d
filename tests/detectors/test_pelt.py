import math

import numpy as np
import pytest

from ontogeny.detectors import pelt
from ontogeny.nulls import trend_matched
from ontogeny.vocabulary import Verdict, each_located

STEPS = np.arange(120)


def remembering(rng, phi, points=120):
    series = np.zeros(points + 100)
    for index in range(1, series.size):
        series[index] = phi * series[index - 1] + np.sqrt(1 - phi**2) * rng.normal()
    return series[100:]


def changes(values, **settings):
    """How many changes pelt alone describes."""
    return [one for one in each_located(pelt(STEPS, values, **settings)) if "looks like" in one.reason]


def test_a_shift_of_four_sds_at_60_of_120_is_found_there():
    series = np.random.default_rng(0).normal(size=120) + 4 * (STEPS >= 60)
    found = pelt(STEPS, series, trend_matched(STEPS, series)[:, None])
    assert found.verdict is Verdict.TRANSITION
    assert math.ceil(found.step) == 60
    assert 59 <= found.low <= found.step <= found.high <= 60
    assert (found.p, found.kind) == (1 / 200, "rise")
    assert found.size == pytest.approx(4, abs=0.6)
    assert found.quiet_sd == pytest.approx(1, abs=0.3)


def test_white_noise_is_paid_for_and_less_at_a_lower_price():
    """FOR-04: none of 300 at 3 ln n, some 5 % at 2 ln n."""
    rng = np.random.default_rng(1)
    series = [rng.normal(size=120) for _ in range(300)]
    three, two = (sum(bool(changes(s, penalty=p, memory=False)) for s in series) for p in (3.0, 2.0))
    assert three <= 3
    assert 3 <= two <= 30


def test_remembering_noise_needs_the_higher_price():
    """FOR-04: some 60 % false alarms bare at φ = 0.7, and few once its memory is in the price."""
    rng = np.random.default_rng(2)
    series = [remembering(rng, 0.7) for _ in range(100)]
    bare, priced = (sum(bool(changes(s, memory=memory)) for s in series) for memory in (False, True))
    assert bare >= 45
    assert priced <= 12


def test_several_changes_are_told_in_order_with_their_directions():
    series = np.random.default_rng(3).normal(size=120)
    series += 8 * (STEPS >= 30) - 8 * (STEPS >= 60) + 10 * (STEPS >= 90)
    found = pelt(STEPS, series, trend_matched(STEPS, series)[:, None])
    assert [one.kind for one in found] == ["rise", "fall", "rise"]
    assert [math.ceil(one.step) for one in found] == [30, 60, 90]


def test_ties_are_no_degenerate_scale():
    series = np.where(STEPS < 60, 0.0, 1.0)
    series[::17] += 0.5
    (found,) = changes(series)
    assert math.ceil(found.step) == 60
