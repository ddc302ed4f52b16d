import numpy as np
import pytest

from ontogeny.detectors import sigmoid
from ontogeny.nulls import trend_matched
from ontogeny.vocabulary import Verdict

STEPS = np.arange(1, 61)


def logistic(centre, width, size=10.0):
    return size / (1 + np.exp(-np.log(81) * (np.log(STEPS) - np.log(centre)) / width))


def held(series, **settings):
    return sigmoid(STEPS, series, trend_matched(STEPS, series)[:, None], **settings)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_rise_or_fall_gives_its_half_width_and_size(sign):
    series = sign * logistic(25, 0.4) + 0.3 * np.random.default_rng(0).normal(size=60)
    found = held(series)
    assert found.verdict is Verdict.TRANSITION
    assert found.low <= 25 <= found.high
    assert found.step == pytest.approx(25, rel=0.05)
    assert found.width == pytest.approx(0.4, rel=0.5)
    assert found.size == pytest.approx(10 * sign, abs=1)
    assert found.kind == ("rise" if sign > 0 else "fall")


def test_what_takes_long_is_gradual():
    series = logistic(12, 0.5) + 0.1 * np.random.default_rng(1).normal(size=60)
    assert held(series).verdict is Verdict.TRANSITION
    assert held(series, width_limit=0.1).verdict is Verdict.GRADUAL


def test_a_decay_is_no_rise_between_levels():
    series = np.exp(-STEPS / 12) + 0.05 * np.random.default_rng(2).normal(size=60)
    assert held(series).verdict is not Verdict.TRANSITION
