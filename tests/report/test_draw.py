import re
from xml.etree import ElementTree

import pytest

from ontogeny import views
from ontogeny.errors import BadContract
from ontogeny.report import draw
from ontogeny.views.figure import Figure, Heat, Line, Panel, Rule, Text

HOSTILE = "<script>alert('1')</script> $x^2$ \"q\" & \u202etxt.exe\u202c 🦉 \x00 ]]> \ufffe"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def figures(made_up):
    telemetry, rows, transitions = made_up.telemetry(), made_up.rows(), made_up.transitions()
    return [
        views.learning_curve(telemetry, rows, transitions),
        views.optimizer_health(telemetry),
        views.head_timeline(rows, transitions),
        views.head_grid(rows, transitions, part="induction_attention"),
        views.layer_by_step(rows, transitions),
        views.spectra_over_time(rows),
    ]


def words(svg: str) -> list[str]:
    return [text.text for text in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_every_view_draws_as_text_without_metadata_and_small(figures):
    for figure in figures:
        svg = draw(figure)
        said = words(svg)
        assert all(panel.title in said for panel in figure.panels)
        assert "metadata" not in svg
        assert len(svg) < 150_000


def test_the_same_description_gives_the_same_bytes(figures):
    for figure in figures[:4]:
        assert draw(figure) == draw(figure)


def test_themes_differ_in_colour_only(figures):
    light, dark, page = (draw(figures[0], theme=theme) for theme in ("light", "dark", "page"))
    bare = lambda svg: re.sub(r"#[0-9a-f]{6}|var\(--[a-z0-9-]+\)", "colour", svg)
    bare_ids = lambda svg: re.sub(r"(#|id=\")[a-z][0-9a-f]{10}", r"\1", bare(svg))
    assert light != dark
    assert bare_ids(light) == bare_ids(dark) == bare_ids(page)


def test_a_page_drawing_names_every_colour(figures):
    svg = draw(figures[0], theme="page")
    assert "#fe01" not in svg
    assert not re.findall(r"(?:stroke|fill): #", svg)


def test_ids_of_two_drawings_differ(figures):
    ids = [set(re.findall(r'id="([^"]+)"', draw(figure))) for figure in figures[:3]]
    assert ids[0]
    assert not ids[0] & ids[1]
    assert not ids[0] & ids[2]


@pytest.mark.parametrize("theme", ["light", "page"])
def test_hostile_names_stay_words(theme):
    marks = (Line(HOSTILE, (0.0, 1.0), (1.0, 2.0)), Rule(0.5, label=HOSTILE))
    figure = Figure(HOSTILE, (Panel(HOSTILE, marks, y=HOSTILE, x=HOSTILE, latest=HOSTILE),))
    svg = draw(figure, theme=theme)
    tags = {element.tag.removeprefix(SVG) for element in ElementTree.fromstring(svg).iter()}
    assert tags <= {"svg", "g", "path", "text", "defs", "clipPath", "rect", "use", "style"}
    assert "\u202e" not in svg
    assert "\x00" not in svg
    assert any("<script>" in text and "$x^2$" in text for text in words(svg))


def test_a_heat_map_that_holds_nothing_still_draws():
    heat = Heat("a", ("0", "1"), ("0",), ((None, float("nan")),), 0.0, 1.0)
    assert "0" in words(draw(Figure("f", (Panel("p", (heat,), x_scale="linear"),))))


def test_an_empty_panel_says_why():
    assert "nothing was measured" in words(draw(Figure("f", (Panel("p", (Text("nothing was measured"),)),))))


def test_a_table_is_not_a_drawing(made_up):
    with pytest.raises(BadContract, match="is a table"):
        draw(views.transition_table(made_up.transitions()))
