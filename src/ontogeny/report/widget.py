"""Figures in a notebook: live where the extra `notebook` and the built script are there, else pictures."""

import base64
from functools import cache
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from ontogeny.errors import BadArgument
from ontogeny.report.figures import figure_of
from ontogeny.report.gather import run_tables
from ontogeny.report.html import table
from ontogeny.report.printing import drawing_bytes
from ontogeny.report.tables import RunTables
from ontogeny.store.run import Run
from ontogeny.views.figure import Figure

#: In millimetres: as wide as a cell of JupyterLab, with letters as large as the live ones.
PICTURE = 320.0
DOTS_AN_INCH = 79


class Shown(Protocol):
    """What a notebook can display."""

    def _repr_mimebundle_(self, **asked: Any) -> Any: ...


def show(what: Run | RunTables | Figure | str | Path, view: str = "", **parameters: Any) -> Shown:
    """A figure to stand as the last line of a notebook's cell (Jupyter, marimo).

    `what` is a figure, or a run (or its folder, or its tables) of which `view` is shown: `learning_curve` if
    nothing is said, any of `ontogeny parts view`, with the view's own `parameters`. It answers to the pointer
    where anywidget (`pip install 'ontogeny[notebook]'`) and the built script are there. What cannot run it
    (a page made from the notebook, a code host's preview) shows a picture.

    Raises UnknownName for another view, BadArgument for a figure with a view.
    """
    if isinstance(what, Figure):
        if view or parameters:
            raise BadArgument("a figure has no other views", received=view or parameters, allowed="a run")
        figure = what
    else:
        run = Run.open(what) if isinstance(what, str | Path) else what
        tables = run_tables(run) if isinstance(run, Run) else run
        figure = figure_of(tables, view or "learning_curve", parameters)
    bundle = _bundle()
    if bundle is None or find_spec("anywidget") is None:
        return Picture(figure)
    return _live(figure, *bundle)


class Picture:
    """A figure as notebooks without a widget show it."""

    def __init__(self, figure: Figure) -> None:
        self.figure = figure

    def _repr_mimebundle_(self, **asked: Any) -> dict[str, Any]:
        return pictures(self.figure)


def pictures(figure: Figure) -> dict[str, Any]:
    """A figure by MIME type: a drawing as PNG, a table as HTML, and always a line of text."""
    said = {"text/plain": f"{figure.title}: {figure.note}" if figure.note else figure.title}
    if figure.table is not None:
        return {**said, "text/html": table(figure.table)}
    picture = drawing_bytes(figure, "png", width=PICTURE, dots=DOTS_AN_INCH)
    return {**said, "image/png": base64.b64encode(picture).decode()}


@cache
def _bundle() -> tuple[str, str] | None:
    """Script and style sheet of the widget, or None where they were not built."""
    static = resources.files("ontogeny.dashboard").joinpath("static")
    files = [static.joinpath(name) for name in ("widget.js", "widget.css")]
    if not all(file.is_file() for file in files):
        return None
    script, style = (file.read_text(encoding="utf-8") for file in files)
    return script, style


def _live(figure: Figure, script: str, style: str) -> Shown:
    made = _widget_class(script, style)(figure=figure.plain())
    made.described = figure
    return made


@cache
def _widget_class(script: str, style: str) -> Any:
    import anywidget  # an optional extra, and slow to import
    import traitlets

    class FigureWidget(anywidget.AnyWidget):
        """A described figure; setting `figure` to another description draws that."""

        _esm = script
        _css = style
        figure = traitlets.Dict().tag(sync=True)
        described: Figure

        def _repr_mimebundle_(self, **asked: Any) -> Any:
            # A widget's own view comes first where it can run; the picture is for wherever it cannot.
            bundle = super()._repr_mimebundle_(**asked)
            data, *metadata = bundle if isinstance(bundle, tuple) else (bundle or {},)
            return ({**data, **self._still()}, *metadata)

        def _still(self) -> dict[str, Any]:
            if self.figure == self.described.plain():
                return pictures(self.described)
            return {"text/plain": str(self.figure.get("title", ""))}  # a later description: no old picture

    return FigureWidget
