"""How much of a loss was lost, and since when nothing is."""

import math

import numpy as np
import pandas as pd
import pytest

from ontogeny.statistics.improvement import improvements, stagnation
from ontogeny.statistics.recorded import Recorded


def series(values) -> Recorded:
    return Recorded.of(pd.DataFrame({"step": range(len(values)), "loss": values}), "loss")


def test_an_exponential_loses_the_same_share_in_every_window():
    found = improvements(series(5 * np.exp(-0.01 * np.arange(300))), 100)
    assert np.isnan(found[:100]).all()
    assert found[100:] == pytest.approx(1 - math.exp(-1), abs=1e-12)


def test_without_a_loss_above_zero_there_is_no_share():
    assert np.isnan(improvements(series([0.0, 1.0, -1.0, 1.0]), 1)).tolist() == [True] * 4


def test_a_slow_decline_adds_up_to_an_improvement():
    found = stagnation(series(1 - 4e-4 * np.arange(10)), 1e-3)
    assert found.tolist() == [0, 1, 2, 0, 1, 2, 0, 1, 2, 0]


def test_without_an_improvement_every_step_counts():
    assert stagnation(series([1.0, 1.0, 2.0, 0.9995, 0.5, 0.7]), 1e-3).tolist() == [0, 1, 2, 3, 0, 1]
