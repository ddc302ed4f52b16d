import numpy as np
import pytest

from ontogeny.statistics.change import Change
from ontogeny.statistics.crossing import log_position

STEPS = np.array([0, *(1 << k for k in range(10)), *range(550, 2001, 50)])
POSITIONS = log_position(STEPS)


def jump(before, after, at=300):
    return np.where(at < STEPS, float(after), float(before))


def test_levels_are_medians_that_a_spike_does_not_move():
    series = jump(1, 3)
    series[[2, 39]] = -100, 100
    change = Change.of(POSITIONS, series)
    assert (change.start, change.end, change.size, change.sign) == (1, 3, 2, 1)
    assert not change.climbing


def test_a_fall_is_a_rise_turned_over():
    change = Change.of(POSITIONS, jump(3, 1))
    assert (change.sign, change.start, change.end, change.size) == (-1, -3, -1, 2)
    np.testing.assert_array_equal(change.sign * change.values, jump(3, 1))


@pytest.mark.parametrize(("at", "climbing"), [(300, False), (1500, False), (1860, True)])
def test_a_rise_in_the_end_window_is_still_climbing_and_measured_at_its_tip(at, climbing):
    change = Change.of(POSITIONS, jump(0, 1, at))
    assert change.climbing is climbing
    assert change.size == 1


def test_noise_is_local_to_each_side_of_the_rise():
    rng = np.random.default_rng(0)
    series = jump(0, 10) + np.where(STEPS > 300, 0.5, 0.05) * rng.normal(size=STEPS.size)
    change = Change.of(POSITIONS, series)
    local = change.local_noise(change.fit(np.log(6)))
    assert 0.02 < local[0] < 0.1
    assert 0.35 < local[-1] < 0.8


@pytest.mark.parametrize(("at", "few"), [(30, True), (900, False)])
def test_a_short_quiet_stretch_borrows_the_noise_of_the_whole_and_says_so(at, few):
    series = jump(0, 10, at) + 0.1 * np.random.default_rng(0).normal(size=STEPS.size)
    change = Change.of(POSITIONS, series)
    quiet, note = change.quiet_noise(change.fit(np.log(6)))
    assert quiet == pytest.approx(0.1, rel=0.5)
    assert (note != "") is few
    assert (quiet == change.noise) is few


def test_a_beginning_that_moves_is_told_from_one_that_is_noisy():
    noise = 0.05 * np.random.default_rng(0).normal(size=STEPS.size)
    assert Change.of(POSITIONS, 1 - np.exp(-STEPS / 4) + noise).moving(0.05)
    assert not Change.of(POSITIONS, jump(0, 1) + noise).moving(0.05)
