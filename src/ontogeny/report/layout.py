"""Where panels, titles and labels go, in pixels from the top left."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ontogeny.report.axes import along
from ontogeny.report.lettering import clean, stack, width
from ontogeny.views.figure import Figure, Heat, Line, Panel, Points, Rail, Rule, Text

TITLE, LABEL = 13.0, 11.0
GUTTER, BETWEEN_ROWS = 30.0, 16.0
TITLE_ROW, RULE_ROW, RAIL_ROW, TICK_ROW, AXIS_ROW = 22.0, 14.0, 13.0, 19.0, 15.0
LEFT, RIGHT, MOST_RIGHT = 44.0, 10.0, 130.0
PLOT_HEIGHTS = {1: 250.0, 2: 150.0, 3: 105.0, 4: 90.0}
CELL, SMALLEST_CELL = 22.0, 7.0
#: What a mark on the rail takes to either side.
RAIL_MARK = 8.0
#: What a colour scale takes beside a title.
BAR = 140
MOST_LABELS = 6


@dataclass(frozen=True)
class Frame:
    """A panel's place: outer left, top and width, the room of its title, and its plot's rectangle."""

    panel: Panel
    x: float
    y: float
    outer: float
    room: float
    left: float
    top: float
    wide: float
    high: float
    last_row: bool


@dataclass(frozen=True)
class Layout:
    """All frames, and the drawing's size."""

    frames: tuple[Frame, ...]
    wide: float
    high: float
    bar: Heat | None
    title: bool


def heat_of(panel: Panel) -> Heat | None:
    """The panel's heat map, if it has one."""
    return next((mark for mark in panel.marks if isinstance(mark, Heat)), None)


def is_grid(panel: Panel) -> bool:
    """Whether its columns are names: cells then have one size, and no number lies between them."""
    heat = heat_of(panel)
    return heat is not None and any(isinstance(value, str) for value in heat.x)


def end_labels(panel: Panel) -> list[tuple[Line | Points, str]]:
    """What is labelled at its right end: nothing if it would be too much to read."""
    lines = [mark for mark in panel.marks if isinstance(mark, Line | Points) and mark.label]
    shown = [mark for mark in lines if not isinstance(mark, Line) or mark.role != "quiet"]
    return [(mark, clean(mark.label, 24)) for mark in shown] if len(shown) <= MOST_LABELS else []


def rule_labels(panel: Panel) -> list[Rule]:
    """The labelled transitions from left to right."""
    rules = [mark for mark in panel.marks if isinstance(mark, Rule) and mark.label]
    return sorted(rules, key=lambda rule: rule.x)


def shared_bar(figure: Figure) -> Heat | None:
    """The one colour scale of several heat maps, if it is one."""
    heats = [heat for panel in figure.panels if (heat := heat_of(panel))]
    scales = {(heat.label, heat.low, heat.high, heat.colours, heat.scale) for heat in heats}
    return heats[0] if len(heats) > 1 and len(scales) == 1 and len(heats) == len(figure.panels) else None


def lay_out(figure: Figure, wide: float, title: bool) -> Layout:
    """Panels in rows of `figure.columns`; rows are as high as their highest panel needs."""
    columns = max(1, figure.columns)
    outer = (wide - GUTTER * (columns - 1)) / columns
    bar = shared_bar(figure)
    top = 34.0 if title else 2.0
    right = _right_margin(figure.panels)
    frames: list[Frame] = []
    rows = [figure.panels[start : start + columns] for start in range(0, len(figure.panels), columns)]
    for index, row in enumerate(rows):
        header = max(_header(panel, outer - _left_margin(panel) - right, right) for panel in row)
        below = index + 1 < len(rows)
        highest = 0.0
        for column, panel in enumerate(row):
            labelled = not below or column >= len(rows[index + 1])
            frame = _frame(panel, column * (outer + GUTTER), top, outer, header, right, columns, labelled)
            frames.append(frame)
            highest = max(highest, frame.top + frame.high + TICK_ROW + AXIS_ROW * labelled)
        top = highest + BETWEEN_ROWS
    return Layout(tuple(frames), wide, float(math.ceil(top - BETWEEN_ROWS + 4)), bar, title)


def _frame(
    panel: Panel,
    x: float,
    top: float,
    outer: float,
    header: float,
    right: float,
    columns: int,
    labelled: bool,
) -> Frame:
    left, plot = x + _left_margin(panel), outer - _left_margin(panel) - right
    high = PLOT_HEIGHTS.get(columns, PLOT_HEIGHTS[4])
    heat = heat_of(panel)
    if heat is not None and is_grid(panel):
        cell = max(min(CELL, plot / len(heat.x)), SMALLEST_CELL)
        plot, high = cell * len(heat.x), cell * len(heat.y)
    elif heat is not None:
        high = min(max(18.0 * len(heat.y), 70.0), 320.0)
    elif all(isinstance(mark, Text) for mark in panel.marks):
        high = 30.0
    return Frame(panel, x, top, outer, outer - right, left, top + header, plot, high, labelled)


def _left_margin(panel: Panel) -> float:
    heat = heat_of(panel)
    if heat is None:
        return 0.0 if all(isinstance(mark, Text) for mark in panel.marks) else LEFT
    return 12 + max(width(clean(name, 12), LABEL) for name in heat.y)


def _right_margin(panels: Sequence[Panel]) -> float:
    """Room for end labels, the same in every panel so that their x axes line up."""
    labels = [width(label, LABEL) for panel in panels for _, label in end_labels(panel)]
    return min(max([*labels, 0.0]) + RIGHT, MOST_RIGHT)


def rail_label(panel: Panel) -> str:
    """What is on the rail, counted."""
    rails = [mark for mark in panel.marks if isinstance(mark, Rail)]
    return ", ".join(f"{sum(rail.count):,} {rail.label}" for rail in rails)


def rail_label_left(panel: Panel, plot: float, room: float, wide: float) -> float:
    """Where the rail's label begins, in pixels from the plot's left; `room` is what there is with the margin.

    It ends with the plot if it may, else it goes into the right margin or between marks; where it fits
    nowhere, into the widest stretch.
    """
    rails = [mark for mark in panel.marks if isinstance(mark, Rail)]
    taken = sorted(along(panel, x) * plot for rail in rails for x in rail.x)
    free = [(begin + RAIL_MARK, end - RAIL_MARK) for begin, end in pairwise([-RAIL_MARK, *taken])]
    last = taken[-1] + RAIL_MARK
    if last + wide <= room:
        return max(last, plot - wide)
    fitting = [end - wide for begin, end in free if end - begin >= wide]
    if fitting:
        return fitting[-1]
    begin, end = max(free, key=lambda stretch: stretch[1] - stretch[0])
    return max((begin + end - wide) / 2, 0.0)


def bar_right(frame: Frame) -> float:
    """Where a panel's own colour scale ends: at its plot's right, or further out where its title is."""
    needed = frame.x + unit_left(frame.panel) + BAR
    return max(frame.left + frame.wide, min(needed, frame.x + frame.outer))


def rail_height(panel: Panel) -> float:
    """Room above the plot for what has no y."""
    return RAIL_ROW if any(isinstance(mark, Rail) for mark in panel.marks) else 0.0


def unit_left(panel: Panel) -> float:
    """Where a panel's unit begins beside its title: system fonts differ, so with some room."""
    return width(clean(panel.title, 60), TITLE) * 1.3 + 8


def unit_fits(panel: Panel, room: float) -> bool:
    """Whether the unit fits between title and latest value; otherwise it gets a line of its own."""
    heat = heat_of(panel)
    taken = width(panel.latest, LABEL) + (BAR if heat else 0)
    return not panel.y or is_grid(panel) or unit_left(panel) + width(panel.y, LABEL) + 12 < room - taken


def _header(panel: Panel, plot: float, right: float) -> float:
    rows = 1 + max((row for _, row, _ in rule_rows(panel, 0.0, plot, plot + right)), default=-1)
    rows += not unit_fits(panel, _left_margin(panel) + plot)
    return TITLE_ROW + RULE_ROW * rows + rail_height(panel)


def rule_rows(panel: Panel, left: float, plot: float, right: float) -> list[tuple[Rule, int, float]]:
    """Every labelled transition with its label's row (0 lowest) and left edge, free of each other."""
    rules = rule_labels(panel)
    starts = [left + along(panel, rule.x) * plot + 4 for rule in rules]
    widths = [width(clean(rule.label, 40), LABEL) for rule in rules]
    placed = stack(starts, widths, left, right)
    return [(rule, row, begin) for rule, (row, begin) in zip(rules, placed, strict=True)]
