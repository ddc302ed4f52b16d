"""How each mark of a panel becomes ink."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import LogNorm, Normalize
from matplotlib.transforms import blended_transform_factory

from ontogeny.report.axes import column_edges
from ontogeny.report.lettering import clean
from ontogeny.report.svg import CRISP
from ontogeny.report.theme import Theme
from ontogeny.views.figure import Heat, Line, Panel, Points, Rail, Rule, Text, Ticks

#: A bucket that sticks out of its neighbours is drawn this strongly, or nobody would see it.
SPIKE_ALPHA = 0.6
BAND_ALPHA = 0.2
#: More cells than this go into a picture: as shapes they would outweigh the rest of a page.
MOST_SHAPES = 1500
MAPS = {"sequential": "viridis", "diverging": "RdBu_r"}
RAIL = {"nonfinite": ("x", "alarm"), "missing": ("o", "muted"), "skipped": ("|", "muted")}


def colour_of(line: Line, theme: Theme) -> str:
    """What a line's role, shade and hue mean in a theme."""
    if line.shade is not None:
        return theme.shade(line.shade)
    by_role = {"quiet": theme.quiet, "null": theme.null, "superseded": theme.muted}
    return by_role.get(line.role, theme.hues[line.hue % len(theme.hues)])


def draw_line(axes: Axes, line: Line, panel: Panel, theme: Theme) -> None:
    colour, x = colour_of(line, theme), np.array(line.x)
    if line.low:
        low, high = np.array(line.low), np.array(line.high)
        alpha = BAND_ALPHA if line.role != "quiet" else 0.35
        axes.fill_between(x, low, high, facecolor=colour, alpha=alpha, linewidth=0)
        if line.role == "series":
            _draw_spikes(axes, x, low, high, panel.y_scale == "log", colour)
    if line.y:
        width = {"quiet": 0.7, "superseded": 0.8, "named": 1.8}.get(line.role, 1.5)
        dashes = (0, (3, 2)) if line.role == "superseded" else "-"
        axes.plot(
            x, np.array(line.y), color=colour, linewidth=width, linestyle=dashes, solid_capstyle="round"
        )
        _draw_lonely(axes, x, np.array(line.y), colour)


def _draw_lonely(axes: Axes, x: np.ndarray, y: np.ndarray, colour: str) -> None:
    """A value between two gaps has no line to either side: it gets a dot."""
    there = np.isfinite(y)
    before, after = np.append(False, there[:-1]), np.append(there[1:], False)
    alone = there & ~before & ~after
    if alone.any():
        axes.plot(x[alone], y[alone], linestyle="none", marker="o", markersize=2.5, color=colour)


def _draw_spikes(
    axes: Axes, x: np.ndarray, low: np.ndarray, high: np.ndarray, log: bool, colour: str
) -> None:
    """Vertical strokes for buckets that reach beyond both neighbours by more than a usual band's width."""
    with np.errstate(divide="ignore", invalid="ignore"):
        under, over = (np.log(low), np.log(high)) if log else (low, high)
    usual = np.nanmedian(over - under) if np.isfinite(over - under).any() else 0.0
    pad = lambda values, fill: np.concatenate([[fill], np.where(np.isfinite(values), values, fill), [fill]])
    tops, bottoms = pad(over, -np.inf), pad(under, np.inf)
    sticks_up = over > np.maximum(tops[:-2], tops[2:]) + usual
    sticks_down = under < np.minimum(bottoms[:-2], bottoms[2:]) - usual
    spikes = (sticks_up | sticks_down) & (over > under)
    if spikes.any():
        axes.vlines(x[spikes], low[spikes], high[spikes], color=colour, alpha=SPIKE_ALPHA, linewidth=1.2)


def draw_points(axes: Axes, points: Points, panel: Panel, theme: Theme) -> None:
    colour = theme.hues[points.hue % len(theme.hues)]
    style = {"linewidth": 0.7, "marker": "o", "markersize": 3.6, "markeredgewidth": 0}
    axes.plot(np.array(points.x), np.array(points.y), color=colour, zorder=4, **style)


def draw_rule(axes: Axes, rule: Rule, panel: Panel, theme: Theme) -> None:
    colour = theme.rule if rule.hue is None else theme.hues[rule.hue % len(theme.hues)]
    left, right = axes.get_xlim()
    low = left if rule.low is None else rule.low
    high = right if rule.high is None else rule.high
    if rule.low is not None or rule.high is not None:
        axes.axvspan(low, high, facecolor=colour, alpha=0.13, linewidth=0, zorder=1)
    axes.axvline(rule.x, color=colour, linewidth=0.8, zorder=3)


def draw_ticks(axes: Axes, ticks: Ticks, panel: Panel, theme: Theme) -> None:
    """One path for all of them; each stands 4 px above the axis."""
    height = 4 / axes.get_window_extent().height
    x = np.repeat(np.array(ticks.x), 3)
    y = np.tile([0.0, height, math.nan], len(ticks.x))
    place = blended_transform_factory(axes.transData, axes.transAxes)
    axes.plot(x, y, transform=place, color=theme.muted, linewidth=0.8, scalex=False, scaley=False)


def draw_rail(axes: Axes, rail: Rail, panel: Panel, theme: Theme) -> None:
    marker, use = RAIL[rail.kind]
    colour = getattr(theme, use)
    y = 1 + 6 / axes.get_window_extent().height
    place = blended_transform_factory(axes.transData, axes.transAxes)
    style: dict[str, Any] = {
        "markersize": 6 if rail.kind == "skipped" else 4.5,
        "markeredgewidth": 1.2,
        "markerfacecolor": "none",
    }
    axes.plot(
        np.array(rail.x),
        np.full(len(rail.x), y),
        marker=marker,
        linestyle="none",
        color=colour,
        transform=place,
        clip_on=False,
        scalex=False,
        scaley=False,
        **style,
    )


def norm_of(heat: Heat) -> Normalize:
    """The fixed colour scale of a heat map."""
    return LogNorm(heat.low, heat.high) if heat.scale == "log" else Normalize(heat.low, heat.high)


def draw_heat(axes: Axes, heat: Heat, panel: Panel, theme: Theme) -> None:
    named = any(isinstance(x, str) for x in heat.x)
    columns, rows = column_edges(heat.x, panel.x_scale), np.arange(len(heat.y) + 1) - 0.5
    values = np.array([[math.nan if v is None else v for v in row] for row in heat.values], dtype=float)
    edge: dict[str, Any] = {"edgecolors": theme.paper, "linewidth": 1.0} if named else {"linewidth": 0.0}
    shown = np.ma.masked_invalid(values)
    mesh = axes.pcolormesh(columns, rows, shown, cmap=MAPS[heat.colours], norm=norm_of(heat), **edge)
    mesh.set_rasterized(values.size > MOST_SHAPES)
    mesh.set_gid("rounded" if named else CRISP)
    missing, lost = [], []
    for row, cells in enumerate(heat.values):
        for column, value in enumerate(cells):
            left, right = columns[column], columns[column + 1]
            if value is None:
                missing.append([(left, row - 0.5), (right, row - 0.5), (right, row + 0.5), (left, row + 0.5)])
            elif not math.isfinite(value):
                lost.append(((left + right) / 2, row))
    if missing:
        axes.add_collection(
            PolyCollection(missing, facecolor="none", edgecolor=theme.muted, linewidth=0, hatch="////")
        )
    if lost:
        x, y = zip(*lost, strict=True)
        axes.plot(x, y, linestyle="none", marker="x", markersize=4.5, markeredgewidth=1.3, color=theme.alarm)


def draw_text(axes: Axes, text: Text, panel: Panel, theme: Theme) -> None:
    words = clean(text.text, 120)
    axes.text(0.0, 0.5, words, transform=axes.transAxes, color=theme.muted, fontsize=12, va="center")


DRAWERS: dict[type, Callable[[Axes, Any, Panel, Theme], None]] = {
    Line: draw_line,
    Points: draw_points,
    Rule: draw_rule,
    Ticks: draw_ticks,
    Rail: draw_rail,
    Heat: draw_heat,
    Text: draw_text,
}
