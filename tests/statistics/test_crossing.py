import math

import numpy as np
import pytest

from ontogeny.statistics.crossing import crossing, first_held, log_position, step_at


def test_step_zero_lies_as_far_before_one_as_two_behind():
    positions = log_position(np.array([0, 1, 2]))
    assert positions == pytest.approx([-math.log(2), 0, math.log(2)])
    assert [step_at(position) for position in positions] == pytest.approx([0, 1, 2])


def test_a_crossing_is_linear_between_the_points_around_it():
    positions = np.array([0.0, 1, 3, 4])
    assert crossing(positions, np.array([0.0, 0, 1, 1]), 0.25, hold=2) == pytest.approx(1.5)


def test_only_what_holds_counts_and_the_end_counts_as_holding():
    values = np.array([0.0, 1, 0, 1, 1, 0, 1, 1])
    assert first_held(values, 0.5, 1) == 1
    assert first_held(values, 0.5, 2) == 3
    assert first_held(values, 0.5, 3) == 6
    assert first_held(values, 0.5, 100) == 6
    assert first_held(np.zeros(4), 0.5, 3) == -1


def test_what_never_crosses_is_nan_and_what_already_holds_is_the_first_position():
    positions = np.array([2.0, 3, 4])
    assert np.isnan(crossing(positions, np.zeros(3), 0.5, hold=2))
    assert crossing(positions, np.ones(3), 0.5, hold=2) == 2.0


def test_many_series_at_once_are_each_as_alone():
    rng = np.random.default_rng(0)
    positions, values = np.arange(12.0), rng.normal(size=(50, 12)).cumsum(-1)
    levels = values.mean(-1)
    together = crossing(positions, values, levels, hold=3)
    alone = [crossing(positions, row, level, hold=3) for row, level in zip(values, levels, strict=True)]
    np.testing.assert_array_equal(together, alone)
