import pandas as pd
import pytest

from ontogeny.views import spectra_over_time
from ontogeny.views.figure import Line, Rail
from ontogeny.views.spectra_over_time import kind_of


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("blocks.3.attention.query", "attention.query"),
        ("model.layers.11.mlp.up.weight", "mlp.up"),
        ("unembedding", "unembedding"),
        ("weight", "weight"),
    ],
)
def test_kind_of(name, kind):
    assert kind_of(name) == kind


def test_one_panel_a_part_and_kind_one_line_a_layer(made_up):
    figure = spectra_over_time(made_up.rows())
    assert len(figure.panels) == 12
    panel = figure.panels[0]
    assert (panel.title, panel.y) == ("attention.query", "stable rank")
    lines = [mark for mark in panel.marks if isinstance(mark, Line)]
    assert [(line.label, line.shade) for line in lines] == [("layer 0", 0.0), ("layer 1", 1.0)]


def test_panels_of_a_part_share_their_range(made_up):
    figure = spectra_over_time(made_up.rows(), parts=["stable_rank"])
    assert len({panel.y_range for panel in figure.panels}) == 1


def test_layers_are_in_numeric_order():
    table = pd.DataFrame({
        "part": "stable_rank", "step": 0, "matrix": ["blocks.10.up", "blocks.9.up", "blocks.2.up"],
        "value": [10.0, 9.0, 2.0]
    })  # fmt: skip
    (panel,) = spectra_over_time(table).panels
    assert [mark.y[0] for mark in panel.marks if isinstance(mark, Line)] == [2.0, 9.0, 10.0]


def test_one_name_at_several_layers_is_one_line_a_layer():
    table = pd.DataFrame({
        "part": "a", "step": [0, 0, 1, 1], "layer": [1, 0, 1, 0], "matrix": "attention.query",
        "value": [5.0, 1.0, 6.0, 2.0],
    })  # fmt: skip
    figure = spectra_over_time(table)
    lines = [mark for mark in figure.panels[0].marks if isinstance(mark, Line)]
    assert [(line.label, line.y) for line in lines] == [("layer 0", (1.0, 2.0)), ("layer 1", (5.0, 6.0))]
    assert figure.note.startswith("2 matrices")


def test_without_matrices_it_says_so():
    (panel,) = spectra_over_time(pd.DataFrame()).panels
    assert "no part was measured on weight matrices" in panel.marks[0].text


def test_columns_it_does_not_read_and_empty_axes_change_nothing():
    table = pd.DataFrame({
        "part": "a", "component": "", "step": [2, 0, 1, 0], "layer": [0, 0, 0, 1], "matrix": "up",
        "value": [3.0, float("nan"), 2.0, float("inf")], "status": ["ok", "undefined", "ok", "nonfinite"],
    })  # fmt: skip
    more = table.assign(run="one", reason="because", head=pd.NA, loop=pd.NA, stimulus_name=pd.NA)
    figure = spectra_over_time(more)
    assert figure.plain() == spectra_over_time(table).plain()
    marks = figure.panels[0].marks
    first, second = (mark for mark in marks if isinstance(mark, Line))
    assert (first.x, first.y[1:], second.y) == ((0.0, 1.0, 2.0), (2.0, 3.0), (float("inf"),))
    assert [(mark.kind, mark.x) for mark in marks if isinstance(mark, Rail)] == [
        ("nonfinite", (0.0,)),
        ("missing", (0.0,)),
    ]
