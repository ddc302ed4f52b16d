"""One path, or two that take turns."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ontogeny.audit.order import interleaved


def _distances(points):
    points = np.asarray(points, dtype=float)
    return np.abs(points[:, None] - points[None, :])


@given(st.integers(8, 40), st.floats(0.1, 10))
def test_one_path_has_no_turns(count, speed):
    assert interleaved(_distances(speed * np.arange(count))) == 0


@given(st.integers(8, 40))
def test_two_paths_by_turns_are_counted(count):
    points = np.arange(count) + 1000.0 * (np.arange(count) % 2)
    assert interleaved(_distances(points)) == count - 1


def test_two_halves_are_no_turns():
    assert interleaved(_distances([*range(10), *range(1000, 1010)])) == 0


def test_too_few_points_and_unknown_distances_say_nothing():
    assert interleaved(_distances([0, 100, 1, 101, 2, 102])) == 0
    assert interleaved(np.full((12, 12), np.nan)) == 0
