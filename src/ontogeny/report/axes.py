"""Axes as a description asks for them: the step scale, few ticks, room for the marks, short numbers."""

import math
from collections.abc import Iterable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.scale import FuncScale
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator
from numpy.typing import ArrayLike

from ontogeny.report.wording import short_number
from ontogeny.views.figure import Heat, Line, Panel, Points, Rail, Rule, Scale, Ticks

MOST_TICKS = 5


def values_of(panel: Panel, axis: str) -> np.ndarray:
    """Every finite number the panel's marks have on an axis (`x` or `y`)."""
    found: list[float] = []
    for mark in panel.marks:
        if axis == "y" and isinstance(mark, Line):
            found += [*mark.y, *mark.low, *mark.high]
        elif axis == "y" and isinstance(mark, Points):
            found += mark.y
        elif axis == "x" and isinstance(mark, Line | Points | Ticks | Rail):
            found += mark.x
        elif axis == "x" and isinstance(mark, Rule):
            found.append(mark.x)
        elif axis == "x" and isinstance(mark, Heat):
            found += [x for x in mark.x if not isinstance(x, str)]
    numbers = np.array(found, dtype=float)
    return numbers[np.isfinite(numbers)]


def x_limits(panel: Panel) -> tuple[float, float]:
    """Where a panel's x axis begins and ends: its heat map's outer edges, else its range, else its marks."""
    heat = next((mark for mark in panel.marks if isinstance(mark, Heat)), None)
    if heat is not None:
        edges = column_edges(heat.x, panel.x_scale)
        return float(edges[0]), float(edges[-1])
    return _range(panel.x_range, values_of(panel, "x"), panel.x_scale, 0.0)


def along(panel: Panel, x: float) -> float:
    """Where a number falls on a panel's x axis, 0 left and 1 right."""
    onto = {"step": np.log1p, "log": np.log, "linear": float}[panel.x_scale]
    low, high = (onto(edge) for edge in x_limits(panel))
    return float((onto(x) - low) / (high - low))


def scale_axes(axes: Axes, panel: Panel) -> None:
    """Sets both scales, ranges and ticks of a panel."""
    _set_scale(axes, "x", panel.x_scale, *x_limits(panel))
    _set_scale(axes, "y", panel.y_scale, *_range(panel.y_range, values_of(panel, "y"), panel.y_scale, 0.05))


def _range(
    given: tuple[float, float] | None, values: np.ndarray, scale: Scale, padding: float
) -> tuple[float, float]:
    """Limits around the values; a little room where `padding` says so, in the scale's own terms."""
    if given is not None and given[0] < given[1] and (scale != "log" or given[0] > 0):
        return given
    if scale == "log":
        values = values[values > 0]
    if not values.size:
        return (0.0, 1.0) if scale != "log" else (0.1, 1.0)
    low, high = float(values.min()), float(values.max())
    if scale == "log":
        room = max(high / low, 1.2) ** padding
        return low / room, high * room
    # A mean of equal numbers differs from them by rounding; that is no range to show.
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        room = abs(low) * 0.1 or 0.5
        return low - room, high + room
    return low - padding * (high - low), high + padding * (high - low)


def _set_scale(axes: Axes, name: str, scale: Scale, low: float, high: float) -> None:
    axis = axes.xaxis if name == "x" else axes.yaxis
    set_scale = axes.set_xscale if name == "x" else axes.set_yscale
    if scale == "step":
        set_scale(FuncScale(axis, (_to_step_scale, _from_step_scale)))
    else:
        set_scale(scale)
    (axes.set_xlim if name == "x" else axes.set_ylim)(low, high)
    axis.set_major_locator(FixedLocator(ticks(low, high, scale)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: short_number(value)))


def _to_step_scale(values: ArrayLike) -> np.ndarray:
    return np.log1p(np.maximum(values, 0.0))


def _from_step_scale(values: ArrayLike) -> np.ndarray:
    return np.expm1(values)


def ticks(low: float, high: float, scale: Scale) -> list[float]:
    """At most five round numbers inside the range; 0 is among them on a step axis that begins there."""
    if scale == "linear":
        return _round_numbers(low, high)
    first, last = (
        math.floor(math.log10(max(low, 1e-300) if scale == "log" else max(low, 1.0))),
        math.ceil(math.log10(max(high, 1.0) if scale == "step" else high)),
    )
    decades = [10.0**power for power in range(first, last + 1)]
    inside = _within(decades, low, high)
    if len(inside) < 3:
        inside = _within([factor * decade for decade in decades for factor in (1, 2, 5)], low, high)
    if len(inside) < 2:
        return _round_numbers(low, high)
    zero = [0.0] if scale == "step" and low <= 0 else []
    allowed = MOST_TICKS - len(zero)
    stride = math.ceil(len(inside) / allowed)
    return zero + inside[::-1][::stride][::-1]


def _within(candidates: Iterable[float], low: float, high: float) -> list[float]:
    slack = 1e-9 * max(abs(low), abs(high))
    return [value for value in candidates if low - slack <= value <= high + slack]


def _round_numbers(low: float, high: float) -> list[float]:
    located = MaxNLocator(nbins=MOST_TICKS - 1, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    return [
        0.0 if abs(value) < 1e-12 * (high - low) else float(value) for value in _within(located, low, high)
    ]


def column_edges(x: tuple[float | str, ...], scale: Scale) -> np.ndarray:
    """Edges of a heat map's columns: half-way between neighbours on the scale; whole numbers for names."""
    if any(isinstance(value, str) for value in x):
        return np.arange(len(x) + 1) - 0.5
    there = np.array(x, dtype=float)
    position = np.log1p(there) if scale == "step" else np.log(there) if scale == "log" else there
    if len(position) == 1:
        edges = np.array([position[0] - 0.5, position[0] + 0.5])
    else:
        middle = (position[1:] + position[:-1]) / 2
        edges = np.concatenate([[2 * position[0] - middle[0]], middle, [2 * position[-1] - middle[-1]]])
    return np.expm1(np.maximum(edges, 0)) if scale == "step" else np.exp(edges) if scale == "log" else edges
