import numpy as np

from ontogeny.detectors import double_sigmoid, sigmoid
from ontogeny.nulls import trend_matched
from ontogeny.vocabulary import Verdict

STEPS = np.arange(1, 81)


def noise(seed):
    return np.random.default_rng(seed).normal(size=80)


def held(series, detector=double_sigmoid):
    return detector(STEPS, series, trend_matched(STEPS, series)[:, None])


def test_two_rises_are_told_apart():
    found = held(8.0 * (STEPS > 15) + 8.0 * (STEPS > 50) + noise(0))
    assert [one.verdict for one in found] == [Verdict.TRANSITION] * 2
    for one, truth in zip(found, (15.5, 50.5), strict=True):
        assert abs(one.step - truth) < 1
        assert 6 < one.size < 10


def test_one_rise_stays_one():
    twos = 0
    for seed in range(20):
        series = 8.0 * (STEPS > 40) + noise(seed)
        twos += isinstance(held(series), tuple)
    assert twos <= 2


def test_one_rise_is_described_as_the_single_one_is():
    series = 8.0 * (STEPS > 40) + noise(1)
    one, other = held(series), held(series, sigmoid)
    assert (one.step, one.low, one.high) == (other.step, other.low, other.high)
