import numpy as np
import pytest

from ontogeny.detectors import peak
from ontogeny.nulls import monotone
from ontogeny.vocabulary import Verdict

STEPS = np.arange(60)


def held(series, **settings):
    return peak(STEPS, series, monotone(STEPS, series)[:, None], **settings)


def bump(centre=30, width=4, size=6):
    return size * np.exp(-(((STEPS - centre) / width) ** 2) / 2)


def test_a_bump_is_a_peak_where_it_is():
    found = held(bump() + np.random.default_rng(0).normal(size=60))
    assert found.verdict is Verdict.TRANSITION
    assert found.low <= 30 <= found.high
    assert found.step == pytest.approx(30, abs=2)
    assert 3 < found.size < 9
    assert found.kind == "peak"


@pytest.mark.parametrize("curve", [STEPS / 5, -STEPS / 5, 8 * np.exp(-STEPS / 10), -bump()])
def test_what_only_rises_or_falls_or_dips_has_none(curve):
    assert held(curve + np.random.default_rng(1).normal(size=60)).verdict is Verdict.NONE


def test_a_lone_spike_is_no_peak():
    series = 0.5 * np.random.default_rng(2).normal(size=60)
    series[30] += 20
    assert held(series).verdict is Verdict.NONE
