"""Figures for print: PDF, SVG and PNG from the descriptions that pages are drawn from."""

import csv
import io
import json
from pathlib import Path
from typing import Any

from ontogeny.errors import BadArgument
from ontogeny.report import wording
from ontogeny.report.draw import SETTINGS, canvas_of, drawn, no_table, salt
from ontogeny.report.layout import lay_out
from ontogeny.report.theme import theme_named
from ontogeny.store.files import write_file
from ontogeny.views.figure import Figure, Table

#: In millimetres. Letters are 11 points high whatever the width: set into a page's 160, they have 7.
WIDTH = 240.0
POINTS_A_MILLIMETRE = 72 / 25.4
DOTS_AN_INCH = 220
#: Letters as outlines in SVG and as embedded fonts in PDF: the same on every machine.
PRINT = {**SETTINGS, "svg.fonttype": "path", "pdf.fonttype": 42, "hatch.linewidth": 0.6}
#: Nothing of when and by what it was written: the same figure gives the same bytes.
METADATA: dict[str, dict[str, None]] = {
    "pdf": {"CreationDate": None, "ModDate": None, "Producer": None, "Creator": None},
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
}


def print_figure(
    figure: Figure, path: str | Path, *, width: float = WIDTH, theme: str = "light", title: bool = True
) -> Path:
    """Writes a figure as its file's ending says, and returns the path.

    `.pdf`, `.svg` and `.png` are drawings, `width` millimetres wide; `.json` is the description; `.csv` is
    the table of a figure that is one. The same figure gives the same bytes, as long as matplotlib stays the
    same.

    Raises BadArgument for another ending and for a width outside 60 to 1000, BadContract for a drawing of a
    table, UnknownName for another theme.
    """
    path = Path(path)
    kind = path.suffix.lower().removeprefix(".")
    if kind == "json":
        content = json.dumps(figure.plain(), indent=1, ensure_ascii=False).encode("utf-8", "replace")
    elif kind == "csv" and figure.table is not None:
        content = _csv(figure.table)
    elif kind in METADATA:
        content = drawing_bytes(figure, kind, width=width, theme=theme, title=title)
    else:
        raise BadArgument(
            "a figure cannot be written like this",
            received=path.suffix or path.name,
            allowed=".pdf, .svg, .png, .json" + (", .csv" if figure.table is not None else ""),
        )
    write_file(path, content)
    return path


def drawing_bytes(
    figure: Figure,
    kind: str,
    *,
    width: float = WIDTH,
    theme: str = "light",
    title: bool = True,
    dots: int = DOTS_AN_INCH,
) -> bytes:
    """A figure as a PDF, SVG or PNG file's content."""
    no_table(figure)
    if not 60 <= width <= 1000:
        raise BadArgument("a figure's width is in millimetres", received=width, allowed="60 to 1000")
    colours = theme_named(theme)
    planned = lay_out(figure, width * POINTS_A_MILLIMETRE, title)
    written = io.BytesIO()
    salted: dict[str, Any] = {**PRINT, "svg.hashsalt": salt(figure)}
    with drawn(salted):
        canvas = canvas_of(figure, planned, colours)
        canvas.patch.set(visible=True, facecolor=colours.paper)
        canvas.savefig(written, format=kind, dpi=dots, metadata=METADATA[kind])
    return written.getvalue()


def _csv(table: Table) -> bytes:
    """A table's cells as numbers and texts; an interval as two of its own, what is missing as nothing."""
    written = io.StringIO(newline="")
    rows = csv.writer(written)
    rows.writerow(
        [title for column in table.columns for title in _titles(column.title, column.kind == "interval")]
    )
    for row in table.rows:
        cells = []
        for column, value in zip(table.columns, row, strict=True):
            pair = value if isinstance(value, tuple) else (None, None)
            cells += pair if column.kind == "interval" else [value]
        rows.writerow(["" if cell is None or cell == wording.MISSING else cell for cell in cells])
    return written.getvalue().encode("utf-8", "replace")


def _titles(title: str, interval: bool) -> list[str]:
    return [f"{title}, low", f"{title}, high"] if interval else [title]
