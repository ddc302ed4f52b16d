import math

import numpy as np
import pandas as pd
import pytest

from ontogeny.views import part_over_time
from ontogeny.views.figure import Heat, Line, Rail, Text


def rows(values, **more) -> pd.DataFrame:
    """Rows of one part; every value is at a step of its own unless `step` says otherwise."""
    given = {"part": "spread", "component": "", "step": range(len(values)), "value": values, "status": "ok"}
    return pd.DataFrame({**given, **more})


def layered(layers: int, **more) -> pd.DataFrame:
    values = np.arange(1.0, 2 * layers + 1)
    return rows(values, step=[0, 100] * layers, layer=np.repeat(range(layers), 2), **more)


def lines_of(figure, panel=0) -> list[Line]:
    return [mark for mark in figure.panels[panel].marks if isinstance(mark, Line)]


def test_a_line_a_layer_labelled_at_its_end_the_first_darkest():
    figure = part_over_time(layered(3), unit="dimensions")
    lines = lines_of(figure)
    assert [(line.label, line.shade) for line in lines] == [("L0", 0.0), ("L1", 0.5), ("L2", 1.0)]
    assert lines[1].y == (3.0, 4.0)
    assert (figure.panels[0].title, figure.panels[0].y) == ("each layer", "dimensions")


def test_one_number_of_the_whole_model_has_its_interval_and_its_last_value():
    figure = part_over_time(rows([1.0, 2.0], low=[0.5, 1.5], high=[1.5, 2.5]))
    (line,) = lines_of(figure)
    assert (line.low, line.high) == ((0.5, 1.5), (1.5, 2.5))
    assert (figure.panels[0].title, figure.panels[0].latest) == ("whole model", "2")


def test_many_places_are_bands_and_the_two_that_end_outermost():
    lines = lines_of(part_over_time(layered(10)))
    assert [line.role for line in lines] == ["quiet", "quiet", "named", "named"]
    assert [line.label for line in lines[2:]] == ["L9", "L0"]
    assert (lines[0].low, lines[0].high) == ((1.0, 2.0), (19.0, 20.0))


def test_kinds_of_place_have_panels_of_their_own():
    both = pd.concat([layered(2, matrix=None), layered(2, matrix=["q", "q", "v", "v"])])
    assert [panel.title for panel in part_over_time(both).panels] == ["each layer", "each matrix"]


def test_what_is_undefined_is_on_the_rail_and_breaks_the_line():
    figure = part_over_time(rows([1.0, math.nan, 3.0], status=["ok", "n-too-small", "ok"]))
    (rail,) = (mark for mark in figure.panels[0].marks if isinstance(mark, Rail))
    assert (rail.kind, rail.x) == ("missing", (1.0,))
    assert math.isnan(lines_of(figure)[0].y[1])


def test_without_any_number_the_reason_is_said():
    figure = part_over_time(rows([math.nan], status="too-short", reason="20 differences are needed"))
    assert figure.panels[0].marks == (Text("20 differences are needed"),)


def test_numbers_between_layers_are_a_grid_at_the_last_step():
    pairs = [(here, there) for here in range(3) for there in range(3) if here != there]
    between = rows(
        [step + 0.1 * here + 0.01 * there for step in (0, 5) for here, there in pairs],
        component="layers",
        step=np.repeat([0, 5], len(pairs)),
        layer=[here for here, _ in pairs] * 2,
        place_to=[f"layer {there}" for _, there in pairs] * 2,
    )
    figure = part_over_time(pd.concat([layered(2, place_to=None), between]), unit="similarity")
    assert [panel.title for panel in figure.panels] == ["each layer", "layers, step 5"]
    (heat,) = (mark for mark in figure.panels[1].marks if isinstance(mark, Heat))
    assert heat.y == ("0", "1", "2")
    assert heat.values[1] == (pytest.approx(5.1), None, pytest.approx(5.12))


def test_one_number_a_place_of_the_whole_course_is_a_curve_of_shares():
    ages = np.random.default_rng(0).permutation(np.arange(201.0))
    figure = part_over_time(rows(ages, step=9, token=range(201)), unit="log10(step)")
    (line,) = lines_of(figure)
    assert (line.x[0], line.x[50], line.x[100]) == (0.0, 100.0, 200.0)
    assert (line.y[0], line.y[50], line.y[100]) == (0.0, 0.5, 1.0)
    assert (figure.panels[0].x, figure.panels[0].x_scale) == ("log10(step)", "linear")


def test_beside_one_number_of_the_whole_course_stand_its_others_over_time():
    own = rows([0.98], step=[3])
    others = [rows([1.0, 2.0, 4.0], component=name) for name in ("measured", "spectrum")]
    figure = part_over_time(pd.concat([own, *others]), unit="R²")
    assert [line.label for line in lines_of(figure)] == ["measured", "spectrum"]
    assert figure.panels[0].latest == "R² 0.98"


def test_wide_spans_of_positive_numbers_get_a_logarithmic_axis():
    assert part_over_time(rows([1.0, 500.0])).panels[0].y_scale == "log"
    assert part_over_time(rows([0.0, 500.0])).panels[0].y_scale == "linear"
    assert part_over_time(rows([1e-13, 1.0])).panels[0].y_scale == "linear"


def test_nothing_but_zeros_stand_at_the_bottom():
    assert part_over_time(rows([0.0, 0.0])).panels[0].y_range == (0.0, 1.0)


def test_a_matrix_named_by_a_path_is_labelled_by_its_layer():
    paths = ["model.layers.3.mlp.up", "blocks.0.attention.query", "embedding"]
    figure = part_over_time(rows([1.0, 2.0] * 3, step=[0, 1] * 3, matrix=np.repeat(paths, 2)))
    assert {line.label for line in lines_of(figure)} == {"L3 mlp.up", "L0 attention.query", "embedding"}
