import numpy as np
import pytest

from ontogeny.detectors import reversal
from ontogeny.nulls import monotone
from ontogeny.vocabulary import Verdict

STEPS = np.arange(60)


def held(series):
    return reversal(STEPS, series, monotone(STEPS, series)[:, None])


@pytest.mark.parametrize("sign", [1, -1])
def test_a_tent_turns_at_its_top(sign):
    tent = -6 * np.abs(STEPS - 30) / 30
    found = held(sign * tent + np.random.default_rng(0).normal(size=60))
    assert found.verdict is Verdict.TRANSITION
    assert found.low <= 30 <= found.high
    assert found.size == pytest.approx(-6 * sign, abs=1.5)
    assert found.kind == "reversal"


def test_without_noise_it_is_within_a_checkpoint():
    assert reversal(STEPS, 10.0 - np.abs(STEPS - 40.0)).step == pytest.approx(40, abs=0.5)


def test_a_rise_that_levels_off_does_not_turn_round():
    series = 6 * np.minimum(STEPS, 30) / 30 + np.random.default_rng(1).normal(size=60)
    assert held(series).verdict is Verdict.NONE
