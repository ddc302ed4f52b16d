import math

import numpy as np
import pytest

from ontogeny.detectors import jump
from ontogeny.nulls import trend_matched
from ontogeny.vocabulary import Verdict

STEPS = np.arange(200)


def noise(seed=0):
    return np.random.default_rng(seed).normal(size=200)


def held(series, **settings):
    return jump(STEPS, series, trend_matched(STEPS, series)[:, None], **settings)


@pytest.mark.parametrize("size", [5.0, -5.0])
def test_a_step_is_one_jump_whichever_way(size):
    found = held(noise() + size * (STEPS >= 80))
    assert found.verdict is Verdict.TRANSITION
    assert math.ceil(found.step) == 80
    assert found.size == pytest.approx(size, abs=1)
    assert found.kind == "jump"


def test_a_spike_is_a_jump_only_where_it_need_not_last():
    series = noise(1)
    series[[60, 140]] += 15
    found = held(series, hold=1)
    assert [math.ceil(one.step) for one in found] == [60, 140]
    assert [(one.low, one.high) for one in found] == [(59, 60), (139, 140)]
    assert held(series).verdict is Verdict.NONE


def test_a_large_jump_has_no_shadows():
    found = held(noise(2) + 40 * (STEPS >= 100))
    assert math.ceil(found.step) == 100


def test_a_jump_is_seen_on_a_decay():
    found = held(50 * np.exp(-STEPS / 20) + noise(3) + 6 * (STEPS >= 120))
    assert found.verdict is Verdict.TRANSITION
    assert math.ceil(found.step) == 120
