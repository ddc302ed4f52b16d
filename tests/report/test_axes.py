import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontogeny.report.axes import along, column_edges, scale_axes, ticks, x_limits
from ontogeny.views.figure import Heat, Line, Panel


@pytest.mark.parametrize(
    ("low", "high", "scale", "expected"),
    [
        (0.0, 4000.0, "step", [0, 1, 10, 100, 1000]),
        (0.0, 2e6, "step", [0, 1, 100, 1e4, 1e6]),
        (0.0, 10.0, "linear", [0, 2.5, 5, 7.5, 10]),
        (1e-5, 1e-1, "log", [1e-5, 1e-4, 1e-3, 1e-2, 1e-1]),
    ],
)
def test_ticks_are_round_and_few(low, high, scale, expected):
    assert ticks(low, high, scale) == pytest.approx(expected)


@given(
    st.floats(1e-6, 1e6),
    st.floats(1.001, 1e6),
    st.sampled_from(["linear", "log", "step"]),
)
def test_there_are_never_more_than_five_and_all_are_inside(low, factor, scale):
    found = ticks(low, low * factor, scale)
    assert len(found) <= 5
    assert found == sorted(found)
    slack = 1e-6 * low * factor
    assert all(low - slack <= value <= low * factor + slack for value in found)


def test_step_zero_has_its_place():
    panel = Panel("a", (Line("", (0.0, 999.0), (1.0, 1.0)),))
    assert along(panel, 0.0) == 0
    assert along(panel, 999.0) == 1
    assert along(panel, 0.0) < along(panel, 1.0) < along(panel, 10.0)


def test_columns_reach_half_way_on_their_scale():
    edges = column_edges((0.0, 9.0, 99.0), "step")
    assert edges[0] == 0
    assert np.log1p(edges[1]) == pytest.approx(np.log(10) / 2)
    assert np.log1p(edges[2]) == pytest.approx(1.5 * np.log(10))


def test_a_heat_map_fills_its_axis():
    heat = Heat("a", (10.0, 20.0), ("0",), ((1.0, 2.0),), 0.0, 1.0)
    assert x_limits(Panel("a", (heat,), x_scale="linear", x_range=(0.0, 100.0))) == (5.0, 25.0)


def test_a_given_range_without_extent_is_widened():
    panel = Panel("constant", marks=(Line("zero", (0.0, 1.0), (0.0, 0.0)),), y_range=(0.0, 0.0))
    figure, axes = plt.subplots()
    scale_axes(axes, panel)
    low, high = axes.get_ylim()
    assert low < 0 < high
    plt.close(figure)
