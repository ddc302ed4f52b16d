import math

import numpy as np
import pytest

from ontogeny.detectors import threshold
from ontogeny.nulls import trend_matched
from ontogeny.vocabulary import Verdict

STEPS = np.arange(1, 61)


def held(series, **settings):
    return threshold(STEPS, series, trend_matched(STEPS, series)[:, None], **settings)


def stepped(size=8, at=30, seed=0):
    return np.random.default_rng(seed).normal(size=60) + size * (at < STEPS)


def test_a_step_is_passed_halfway_in_its_gap():
    found = threshold(STEPS, (STEPS > 30) * 1.0, at=0.5)
    assert found.step == pytest.approx(math.exp((math.log(30) + math.log(31)) / 2))
    found = held(stepped(), at=4.0)
    assert found.verdict is Verdict.TRANSITION
    assert 30 <= found.low <= found.step <= found.high <= 31


def test_a_level_that_is_never_held_or_always_was():
    assert "never passed" in held(stepped(), at=30.0).reason
    spiked = np.zeros(60)
    spiked[20:22] = 9
    assert "never passed" in held(spiked + 0.01 * stepped(0), at=4.0).reason
    assert held(stepped(), at=-20.0).verdict is Verdict.BEFORE_START


def test_a_smooth_rise_passes_and_is_no_transition():
    found = held(STEPS / 6 + 0.5 * np.random.default_rng(1).normal(size=60))
    assert found.verdict is Verdict.NONE
    assert found.step is not None
    assert "the null reaches it" in found.reason
