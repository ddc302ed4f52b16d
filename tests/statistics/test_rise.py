import numpy as np
import pytest
import scipy.special

from ontogeny.statistics.crossing import log_position
from ontogeny.statistics.rise import fit_rise

STEPS = np.array([0, *(1 << k for k in range(10)), *range(550, 2001, 50)])
POSITIONS = log_position(STEPS)
LIMIT = np.log(6)


def logistic(centre, width):
    return scipy.special.expit(np.log(81) * (POSITIONS - np.log(centre)) / width)


@pytest.mark.parametrize("centre", [40, 130, 600])
@pytest.mark.parametrize("width", [1.0, np.log(4), 2.5])
def test_a_logistic_is_read_with_its_own_width_and_place(centre, width):
    rise = fit_rise(POSITIONS, logistic(centre, width), 1e-3, LIMIT)
    assert rise.width == pytest.approx(width, rel=0.02)
    assert (rise.early + rise.late) / 2 == pytest.approx(np.log(centre), abs=0.03)
    assert (rise.margin > 0) == (width < LIMIT)
    np.testing.assert_allclose(rise.curve, logistic(centre, width), atol=0.005)


@pytest.mark.parametrize("tau", [30, 100, 300])
def test_exponential_saturation_is_read_with_its_width(tau):
    rise = fit_rise(POSITIONS, 1 - np.exp(-STEPS / tau), 1e-3, LIMIT)
    assert rise.width == pytest.approx(np.log(np.log(10) / -np.log(0.9)), rel=0.02)
    assert rise.early == pytest.approx(np.log(-tau * np.log(0.9)), abs=0.06)
    assert rise.margin < 0


def test_a_jump_is_narrower_than_the_gap_it_lies_in():
    rise = fit_rise(POSITIONS, (STEPS >= 128).astype(float), 1e-3, LIMIT)
    assert rise.width < np.log(2)
    assert np.log(64) < rise.early < rise.late < np.log(128)
    assert rise.margin > 1


def test_a_ramp_in_step_beats_every_narrow_rise():
    assert fit_rise(POSITIONS, STEPS / 1800, 1e-3, LIMIT).margin < 0


def test_a_lone_spike_moves_nothing():
    clean = logistic(300, 1.0)
    spiked = clean.copy()
    spiked[4] = 1e6
    before, after = (fit_rise(POSITIONS, shares, 0.02, LIMIT) for shares in (clean, spiked))
    assert after.width == pytest.approx(before.width, rel=0.15)
    assert after.late == pytest.approx(before.late, abs=0.15)
