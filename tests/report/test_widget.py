import base64

import pytest

from ontogeny.errors import BadArgument, UnknownName
from ontogeny.report import RunTables, widget
from ontogeny.report.widget import Picture, pictures, show
from ontogeny.views.figure import Column, Figure, Line, Panel, Table

CURVE = Figure("Curve", (Panel("Loss", (Line("loss", (0.0, 10.0), (3.0, 1.0)),)),), note="two points")
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


def test_without_the_script_or_the_extra_it_is_a_picture(monkeypatch):
    monkeypatch.setattr(widget, "_bundle", lambda: None)
    shown = show(CURVE)
    assert isinstance(shown, Picture)
    bundle = shown._repr_mimebundle_()
    assert bundle["text/plain"] == "Curve: two points"
    assert base64.b64decode(bundle["image/png"]).startswith(b"\x89PNG")


def test_with_both_it_is_a_widget_that_carries_its_picture(monkeypatch):
    pytest.importorskip("anywidget")
    monkeypatch.setattr(widget, "_bundle", lambda: ("export default {render() {}}", ".a{}"))
    shown = show(CURVE)
    assert shown.figure == CURVE.plain()
    data, *_ = shown._repr_mimebundle_()
    assert WIDGET_VIEW in data
    assert base64.b64decode(data["image/png"]).startswith(b"\x89PNG")
    assert data["text/plain"] == "Curve: two points"


def test_what_it_shows_since_has_no_old_picture(monkeypatch):
    pytest.importorskip("anywidget")
    monkeypatch.setattr(widget, "_bundle", lambda: ("export default {render() {}}", ".a{}"))
    shown = show(CURVE)
    shown.figure = Figure("Another", ()).plain()
    data, *_ = shown._repr_mimebundle_()
    assert WIDGET_VIEW in data
    assert "image/png" not in data
    assert data["text/plain"] == "Another"


def test_a_table_is_shown_as_one():
    table = Table((Column("part", "name"),), (("<script>",),))
    assert "<bdi>&lt;script&gt;</bdi>" in pictures(Figure("T", (Panel("T", (table,)),)))["text/html"]


def test_a_view_of_a_run_by_name(made_up, monkeypatch):
    monkeypatch.setattr(widget, "_bundle", lambda: None)
    tables = RunTables(made_up.identity(), made_up.telemetry(last=300), made_up.rows(), made_up.transitions())
    assert show(tables).figure.title == "Learning curve"
    assert show(tables, "layer_by_step", parts=("effective_rank",)).figure.panels[0].title == "effective rank"
    with pytest.raises(UnknownName, match="view"):
        show(tables, "nothing")
    with pytest.raises(BadArgument, match="no other views"):
        show(CURVE, "layer_by_step")
