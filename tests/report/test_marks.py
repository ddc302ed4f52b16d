import math

import matplotlib
import pytest
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from ontogeny.report.axes import scale_axes
from ontogeny.report.marks import draw_heat, draw_line, draw_rail
from ontogeny.report.theme import LIGHT
from ontogeny.views.figure import Heat, Line, Panel, Rail


@pytest.fixture
def axes():
    with matplotlib.rc_context({"text.parse_math": False}):
        canvas = Figure((4, 3), dpi=72)
        FigureCanvasSVG(canvas)
        yield canvas.add_axes((0.1, 0.1, 0.8, 0.8))


def test_a_bucket_that_sticks_out_is_drawn_strongly(axes):
    low, high = [0.0] * 50, [1.0] * 50
    high[20] = 30.0
    line = Line("a", tuple(map(float, range(50))), (), tuple(low), tuple(high))
    draw_line(axes, line, Panel("p", (line,), x_scale="linear"), LIGHT)
    strokes = axes.collections[1]
    assert [path.vertices[:, 0].tolist() for path in strokes.get_paths()] == [[20.0, 20.0]]
    assert strokes.get_alpha() >= 0.6


def test_a_quiet_band_has_no_spikes(axes):
    line = Line("a", (0.0, 1.0, 2.0), (), (0.0, 0.0, 0.0), (1.0, 9.0, 1.0), role="quiet")
    draw_line(axes, line, Panel("p", (line,)), LIGHT)
    assert len(axes.collections) == 1


def test_a_value_between_two_gaps_is_a_dot(axes):
    line = Line("a", (0.0, 1.0, 2.0), (math.nan, 5.0, math.nan))
    draw_line(axes, line, Panel("p", (line,)), LIGHT)
    assert axes.lines[1].get_marker() == "o"
    assert axes.lines[1].get_xdata().tolist() == [1.0]


def test_the_rail_is_above_the_plot_and_moves_no_axis(axes):
    panel = Panel("p", (Line("a", (0.0, 10.0), (1.0, 2.0)),), x_scale="linear")
    scale_axes(axes, panel)
    before = axes.get_xlim(), axes.get_ylim()
    draw_rail(axes, Rail("nonfinite", (5.0,), (1,), "x"), panel, LIGHT)
    assert axes.lines[0].get_ydata()[0] > 1
    assert (axes.get_xlim(), axes.get_ylim()) == before


def test_missing_is_hatched_and_nonfinite_crossed(axes):
    heat = Heat("a", ("0", "1", "2"), ("0",), ((None, math.nan, 0.5),), 0.0, 1.0)
    draw_heat(axes, heat, Panel("p", (heat,), x_scale="linear"), LIGHT)
    hatched = [found for found in axes.collections if found.get_hatch()]
    assert [len(found.get_paths()) for found in hatched] == [1]
    assert axes.lines[0].get_xdata() == (1.0,)


@pytest.mark.parametrize(("columns", "rasterized"), [(10, False), (2000, True)])
def test_a_large_map_becomes_a_picture(axes, columns, rasterized):
    heat = Heat("a", tuple(map(float, range(columns))), ("0",), ((1.0,) * columns,), 0.0, 1.0)
    draw_heat(axes, heat, Panel("p", (heat,), x_scale="linear"), LIGHT)
    assert axes.collections[0].get_rasterized() is rasterized
