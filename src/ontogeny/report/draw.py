"""A figure's description as SVG, by matplotlib: text stays text, the same input gives the same bytes."""

import hashlib
import io
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D

from ontogeny.errors import BadContract
from ontogeny.report import layout as place
from ontogeny.report.axes import along, scale_axes
from ontogeny.report.layout import Frame, Layout, lay_out
from ontogeny.report.lettering import clean, spread
from ontogeny.report.lettering import width as text_width
from ontogeny.report.marks import DRAWERS, MAPS, colour_of, norm_of
from ontogeny.report.svg import slim
from ontogeny.report.theme import Theme, theme_named
from ontogeny.report.wording import short_number
from ontogeny.views.figure import Figure, Heat, Line, Panel, Points, Rail, Text

WIDTH = 860.0
#: One pixel is one point, so font sizes are pixels.
DPI = 72
SETTINGS = {
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.family": "DejaVu Sans",
    "path.simplify": False,
    "hatch.linewidth": 0.8,
    "axes.unicode_minus": True,
}


def draw(figure: Figure, *, theme: str = "light", width: float = WIDTH, title: bool = True) -> str:
    """SVG text of a described figure, `width` pixels wide.

    `theme` is `light`, `dark`, or `page`: colours as CSS variables (see `Theme.variables`), so that one
    drawing serves both. Without `title` the page is expected to say it. The same description gives the same
    bytes, as long as matplotlib stays the same.

    Raises BadContract for a table (a page writes those), UnknownName for another theme.
    """
    no_table(figure)
    colours = theme_named(theme)
    planned = lay_out(figure, width, title)
    salted: Any = {**SETTINGS, "svg.hashsalt": salt(figure)}
    written = io.StringIO()
    with drawn(salted):
        canvas_of(figure, planned, colours).savefig(
            written, format="svg", metadata={"Date": None, "Creator": None}
        )
    raw = written.getvalue()
    named = {colour: name for name, colour in colours.variables().items()} if theme == "page" else {}
    return slim(raw, label=clean(figure.title, 200), wide=planned.wide, high=planned.high, variables=named)


def no_table(figure: Figure) -> None:
    """Raises BadContract if a figure is a table: a page writes those."""
    if figure.table is not None:
        raise BadContract(
            f"{figure.title!r} is a table, not a drawing",
            received="a figure with a Table mark",
            allowed="figures without one",
            remedy="write it with report.page, or read figure.table.rows",
        )


@contextmanager
def drawn(settings: Any) -> Iterator[None]:
    """What holds while matplotlib draws and writes, besides its settings."""
    with matplotlib.rc_context(settings), warnings.catch_warnings():
        # The reader's fonts are used, not the one measured here: a glyph that it lacks is no loss.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        warnings.filterwarnings("ignore", message="Matplotlib currently does not support .* natively")
        yield


def salt(figure: Figure) -> str:
    """Of the content, so that the ids of two drawings in one page differ unless the drawings are equal."""
    return hashlib.blake2s(repr(figure).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def canvas_of(figure: Figure, planned: Layout, theme: Theme) -> Canvas:
    """A described figure on matplotlib's canvas, one point a pixel."""
    canvas = Canvas((planned.wide / DPI, planned.high / DPI), dpi=DPI)
    FigureCanvasSVG(canvas)
    canvas.patch.set_visible(False)
    if planned.title:
        _write(canvas, planned, 0.0, 16.0, figure.title, theme.ink, 15.0, weight="bold", longest=90)
    if planned.bar is not None:
        _draw_bar(canvas, planned, planned.bar, planned.wide - 4, 16.0 if planned.title else 15.0, theme)
    for frame in planned.frames:
        _draw_panel(canvas, planned, frame, theme)
    return canvas


def _write(
    canvas: Canvas,
    planned: Layout,
    x: float,
    baseline: float,
    text: str,
    colour: str,
    size: float,
    *,
    align: str = "left",
    weight: str = "normal",
    longest: int = 60,
) -> None:
    where = (x / planned.wide, 1 - baseline / planned.high)
    shown = clean(text, longest)
    canvas.text(*where, shown, color=colour, fontsize=size, ha=align, va="baseline", fontweight=weight)


def _axes(canvas: Canvas, planned: Layout, left: float, top: float, wide: float, high: float) -> Axes:
    """Axes at a rectangle in pixels from the top left."""
    bottom = 1 - (top + high) / planned.high
    return canvas.add_axes((left / planned.wide, bottom, wide / planned.wide, high / planned.high))


def _draw_panel(canvas: Canvas, planned: Layout, frame: Frame, theme: Theme) -> None:
    panel = frame.panel
    axes = _axes(canvas, planned, frame.left, frame.top, frame.wide, frame.high)
    axes.patch.set_visible(False)
    heat = place.heat_of(panel)
    _title(canvas, planned, frame, theme)
    if any(not isinstance(mark, Text) for mark in panel.marks):
        _scale(axes, panel, heat, theme)
    else:
        axes.set_axis_off()
    for mark in panel.marks:
        DRAWERS[type(mark)](axes, mark, panel, theme)
    _label_ends(canvas, planned, frame, axes, theme)
    _label_rail(canvas, planned, frame, theme)
    _label_rules(canvas, planned, frame, theme)
    if heat is not None and planned.bar is None:
        _draw_bar(canvas, planned, heat, place.bar_right(frame), frame.y + 12, theme)
    if frame.last_row and axes.axison:
        _name_axes(canvas, planned, frame, theme)


def _name_axes(canvas: Canvas, planned: Layout, frame: Frame, theme: Theme) -> None:
    """The x axis below its right end; both axes of a grid below its left."""
    panel, baseline = frame.panel, frame.top + frame.high + place.TICK_ROW + place.AXIS_ROW - 5
    if place.is_grid(panel):
        said = f"{panel.y} ↑ {panel.x} →"
        _write(canvas, planned, frame.left, baseline, said, theme.muted, place.LABEL)
        return
    right = frame.left + frame.wide
    _write(canvas, planned, right, baseline, panel.x, theme.muted, place.LABEL, align="right")


def _title(canvas: Canvas, planned: Layout, frame: Frame, theme: Theme) -> None:
    panel, baseline = frame.panel, frame.y + 13
    _write(canvas, planned, frame.x, baseline, panel.title, theme.ink, place.TITLE, weight="bold")
    right = frame.left + frame.wide
    beside = place.unit_fits(panel, frame.room)
    x, y = (frame.x + place.unit_left(panel), baseline) if beside else (frame.x, baseline + place.RULE_ROW)
    if not place.is_grid(panel):
        _write(canvas, planned, x, y, panel.y, theme.muted, place.LABEL)
    if panel.latest:
        _write(canvas, planned, right, baseline, panel.latest, theme.ink, place.LABEL, align="right")


def _scale(axes: Axes, panel: Panel, heat: Heat | None, theme: Theme) -> None:
    scale_axes(axes, panel)
    axes.tick_params(length=0, pad=4, labelsize=place.LABEL, colors=theme.muted)
    for side in ("top", "left", "right"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set(color=theme.quiet, linewidth=0.8)
    if heat is None:
        axes.grid(True, color=theme.hairline, linewidth=0.8)
        axes.set_axisbelow(True)
        return
    axes.spines["bottom"].set_visible(False)
    axes.set_ylim(-0.5, len(heat.y) - 0.5)
    _name_ticks(axes.yaxis, heat.y)
    if isinstance(heat.x[0], str):
        _name_ticks(axes.xaxis, heat.x)


def _name_ticks(axis: Axis, names: Sequence[float | str]) -> None:
    """Every name, or every second, fourth … so that few enough remain."""
    stride = 1
    while len(names) / stride > 8:
        stride *= 2
    chosen = range(0, len(names), stride)
    axis.set_ticks(list(chosen), [clean(str(names[index]), 12) for index in chosen])


def _label_ends(canvas: Canvas, planned: Layout, frame: Frame, axes: Axes, theme: Theme) -> None:
    """Names right of the plot, each at its line's last value, moved apart where they would collide."""
    found = []
    for mark, label in place.end_labels(frame.panel):
        ends = np.array(mark.y) if mark.y or isinstance(mark, Points) else _middle(mark)
        ends = ends[np.isfinite(ends)]
        if ends.size:
            colour = colour_of(mark, theme) if isinstance(mark, Line) else theme.hues[mark.hue]
            found.append((label, colour, axes.transData.transform((1.0, ends[-1]))[1]))
    bottom = planned.high - frame.top - frame.high
    heights = spread([height for *_, height in found], 13.0, bottom, bottom + frame.high)
    for (label, colour, _), height in zip(found, heights, strict=True):
        x = frame.left + frame.wide + 6
        _write(canvas, planned, x, planned.high - height + 4, label, colour, place.LABEL)


def _middle(band: Line) -> np.ndarray:
    return (np.array(band.low) + np.array(band.high)) / 2


def _label_rail(canvas: Canvas, planned: Layout, frame: Frame, theme: Theme) -> None:
    """What the rail holds, in the widest stretch of it that is free of marks; to the right if it may."""
    said = place.rail_label(frame.panel)
    if not said:
        return
    rails = [mark for mark in frame.panel.marks if isinstance(mark, Rail)]
    lost = any(rail.kind == "nonfinite" for rail in rails)
    room = frame.x + frame.outer - frame.left
    begin = place.rail_label_left(frame.panel, frame.wide, room, text_width(said, place.LABEL))
    colour = theme.alarm if lost else theme.muted
    _write(canvas, planned, frame.left + begin, frame.top - 3, said, colour, place.LABEL)


def _label_rules(canvas: Canvas, planned: Layout, frame: Frame, theme: Theme) -> None:
    """Names above the plot, each on the end of its hairline."""
    lowest = frame.top - place.rail_height(frame.panel) - 4
    for rule, row, begin in place.rule_rows(frame.panel, frame.left, frame.wide, frame.x + frame.outer):
        colour = theme.rule if rule.hue is None else theme.hues[rule.hue % len(theme.hues)]
        baseline = lowest - row * place.RULE_ROW
        x = (frame.left + along(frame.panel, rule.x) * frame.wide) / planned.wide
        ends = [1 - frame.top / planned.high, 1 - (baseline - 9) / planned.high]
        canvas.add_artist(Line2D([x, x], ends, color=colour, linewidth=0.8))
        _write(canvas, planned, begin, baseline, rule.label, colour, place.LABEL, longest=40)


def _draw_bar(
    canvas: Canvas, planned: Layout, heat: Heat, right: float, baseline: float, theme: Theme
) -> None:
    """The colour scale: a strip between its two ends, right-aligned."""
    low, high = short_number(float(f"{heat.low:.3g}")), short_number(float(f"{heat.high:.3g}"))
    end = right - text_width(high, place.LABEL) - 5
    strip = _axes(canvas, planned, end - 70, baseline - 8, 70.0, 8.0)
    steps = np.linspace(0, 1, 64)[None, :]
    strip.imshow(norm_of(heat).inverse(steps), cmap=MAPS[heat.colours], norm=norm_of(heat), aspect="auto")
    strip.set_axis_off()
    _write(canvas, planned, right, baseline, high, theme.muted, place.LABEL, align="right")
    _write(canvas, planned, end - 75, baseline, low, theme.muted, place.LABEL, align="right")
