import math

import numpy as np
import pytest

from ontogeny.views.heat import cell, colour_range, colour_spacing


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.1, 0.9], (0.0, 1.0, "sequential")),
        ([-3.0, 1.0], (-3.0, 3.0, "diverging")),
        ([-0.001, 0.9], (-0.001, 0.9, "sequential")),
        ([50.0, 60.0], (50.0, 60.0, "sequential")),
        ([2.0, 60.0], (0.0, 60.0, "sequential")),
        ([7.0, 7.0], (6.5, 7.5, "sequential")),
        ([2.0, np.nan, np.inf, 60.0], (0.0, 60.0, "sequential")),
    ],
)
def test_colour_range(values, expected):
    assert colour_range(np.array(values)) == expected


def test_colour_spacing():
    assert colour_spacing(np.array([1.0, 99.0])) == "linear"
    assert colour_spacing(np.array([1.0, 101.0, np.nan])) == "log"
    assert colour_spacing(np.array([0.0, 1e6])) == "linear"
    assert colour_spacing(np.array([np.nan])) == "linear"


def test_cell():
    assert cell(2.0, "ok") == 2.0
    assert cell(math.nan, "too-short") is None
    assert math.isnan(cell(math.nan, "nonfinite"))
    assert math.isnan(cell(math.inf, ""))
