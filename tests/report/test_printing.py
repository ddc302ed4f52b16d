import csv
import io
import json

import matplotlib.image
import pytest

from ontogeny import views
from ontogeny.errors import BadArgument, BadContract, UnknownName
from ontogeny.report.printing import drawing_bytes, print_figure
from ontogeny.views.figure import Column, Figure, Line, Panel, Table


def curve(label: str = "loss") -> Figure:
    line = Line(label, (0.0, 10.0, 100.0), (3.0, 2.0, 1.0), (2.5, 1.5, 0.5), (3.5, 2.5, 1.5))
    return Figure("Learning curve", (Panel("Loss", (line,), y="nats"),))


@pytest.mark.parametrize("kind", ["pdf", "svg", "png"])
def test_the_same_figure_gives_the_same_bytes_and_another_gives_others(kind):
    assert drawing_bytes(curve(), kind) == drawing_bytes(curve(), kind)
    assert drawing_bytes(curve(), kind) != drawing_bytes(curve("other"), kind)


def test_a_pdf_carries_its_letters_as_a_font_and_no_date():
    written = drawing_bytes(curve(), "pdf")
    assert written.startswith(b"%PDF-")
    assert b"/FontFile2" in written
    assert b"/Type3" not in written
    assert b"CreationDate" not in written


def test_an_svg_needs_no_font_of_its_reader():
    written = drawing_bytes(curve(), "svg").decode()
    assert "<text" not in written
    assert "font-family" not in written
    assert "@font-face" not in written


def test_a_png_is_as_wide_as_asked(tmp_path):
    picture = matplotlib.image.imread(print_figure(curve(), tmp_path / "curve.png", width=127.0))
    assert picture.shape[1] == pytest.approx(127 / 25.4 * 220, abs=1)
    assert tuple(picture[0, 0, :3]) == (1.0, 1.0, 1.0)
    dark = matplotlib.image.imread(print_figure(curve(), tmp_path / "dark.png", theme="dark"))
    assert dark[0, 0, :3].max() < 0.15


def test_a_table_becomes_csv_and_no_drawing(tmp_path):
    columns = (Column("part", "name"), Column("step", "step"), Column("interval", "interval"))
    figure = Figure(
        "Table", (Panel("Table", (Table(columns, (("a,b", 3.0, (1.0, None)), (None, 4.0, None))),)),)
    )
    written = print_figure(figure, tmp_path / "table.csv").read_bytes().decode()
    assert list(csv.reader(io.StringIO(written))) == [
        ["part", "step", "interval, low", "interval, high"],
        ["a,b", "3.0", "1.0", ""],
        ["", "4.0", "", ""],
    ]
    with pytest.raises(BadContract, match="is a table"):
        print_figure(figure, tmp_path / "table.pdf")


def test_json_is_the_description(tmp_path):
    assert json.loads(print_figure(curve(), tmp_path / "curve.json").read_text()) == curve().plain()


def test_what_cannot_be_written_is_named(tmp_path):
    with pytest.raises(BadArgument, match=r"\.gif"):
        print_figure(curve(), tmp_path / "curve.gif")
    with pytest.raises(BadArgument, match="csv"):
        print_figure(curve(), tmp_path / "curve.csv")
    with pytest.raises(BadArgument, match="millimetres"):
        print_figure(curve(), tmp_path / "curve.pdf", width=5)
    with pytest.raises(UnknownName, match="theme"):
        print_figure(curve(), tmp_path / "curve.pdf", theme="sepia")
    assert not list(tmp_path.iterdir())


def test_every_drawn_view_can_be_printed(made_up):
    rows, transitions = made_up.rows(last=300), made_up.transitions()
    for figure in (views.head_grid(rows, transitions), views.layer_by_step(rows, transitions)):
        assert drawing_bytes(figure, "pdf").startswith(b"%PDF-")
