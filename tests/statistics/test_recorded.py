"""Series as they were recorded: uneven, with gaps, twice over."""

import math

import numpy as np
import pandas as pd
import pytest

from ontogeny.statistics.recorded import Recorded


def series(values, steps=None) -> Recorded:
    steps = range(1, len(values) + 1) if steps is None else steps
    return Recorded.of(pd.DataFrame({"step": list(steps), "loss": list(values)}), "loss")


def test_what_is_not_finite_is_left_out_and_the_last_of_a_step_kept():
    found = series([3.0, math.nan, math.inf, 5.0, 4.0], [2, 3, 4, 1, 2])
    assert found.steps.tolist() == [1, 2]
    assert found.values.tolist() == [5, 4]


def test_an_empty_series_has_no_marks_and_no_average():
    found = series([math.nan])
    assert found.marks(10) == []
    assert found.smooth(5.0).values.size == found.earlier(3).size == 0


def test_the_average_forgets_by_half_every_half_life():
    jump = series([1.0] + [0.0] * 50).smooth(50.0)
    assert jump.values[-1] == pytest.approx(0.5)
    sparse = series([1.0, 0.0], [1, 51]).smooth(50.0)
    assert sparse.values[-1] == pytest.approx(0.5), "by steps, not by records"


def test_a_recursion_of_pandas_agrees():
    values = np.random.default_rng(0).normal(size=300)
    expected = pd.Series(values).ewm(halflife=20, adjust=False).mean().to_numpy()
    assert series(values).smooth(20.0).values == pytest.approx(expected, abs=1e-12)


def test_earlier_is_at_or_before_the_distance():
    found = series([10.0, 20.0, 30.0, 40.0], [1, 3, 4, 9]).earlier(2)
    assert found.tolist() == pytest.approx([math.nan, 10, 10, 30], nan_ok=True)


def test_marks_are_the_last_record_of_every_stretch():
    found = series([0.0] * 6, [0, 1, 100, 101, 250, 260])
    assert found.steps[found.marks(100)].tolist() == [0, 100, 101, 260]
