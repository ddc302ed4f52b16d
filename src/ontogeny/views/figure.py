"""The description of a figure: what is to be seen, and nothing about how it is drawn.

matplotlib draws it for a report; a browser draws the same description, so every type here turns into plain
JSON values (`plain`). Numbers are in the units their axis label names. NaN inside a line breaks it.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Literal

from ontogeny.errors import BadContract

#: `step` is ln(1 + step): nearly logarithmic, yet step 0 has its place.
Scale = Literal["linear", "log", "step"]
#: What a line is for: data; data pointed out by name; data in the background; what chance alone gives;
#: what a later attempt replaced.
Role = Literal["series", "named", "quiet", "null", "superseded"]
Numbers = tuple[float, ...]
Cell = str | float | None | tuple[float | None, float | None]

SCALES = ("linear", "log", "step")


def numbers(values: Iterable[Any]) -> Numbers:
    """Python floats of any numeric column; what is missing becomes NaN."""
    return tuple(math.nan if value is None else float(value) for value in values)


def _same_length(what: str, x: tuple[Any, ...], *others: tuple[Any, ...]) -> None:
    for other in others:
        if other and len(other) != len(x):
            raise BadContract(
                f"{what} has columns of unequal length",
                received=f"{len(x)} and {len(other)}",
                allowed="equal",
            )


@dataclass(frozen=True)
class Line:
    """A series and its band. `y` may be empty (a band alone), `low` and `high` too (a line alone).

    `hue` is one of seven unordered categories (0-6); `shade` (0-1), where given, is the position in an
    ordered family and wins over it.
    """

    label: str
    x: Numbers
    y: Numbers = ()
    low: Numbers = ()
    high: Numbers = ()
    role: Role = "series"
    hue: int = 0
    shade: float | None = None

    def __post_init__(self) -> None:
        _same_length(f"line {self.label!r}", self.x, self.y, self.low, self.high)


@dataclass(frozen=True)
class Points:
    """Single measurements, drawn one by one and never joined up by more than a hairline."""

    label: str
    x: Numbers
    y: Numbers
    hue: int = 1

    def __post_init__(self) -> None:
        _same_length(f"points {self.label!r}", self.x, self.y)


@dataclass(frozen=True)
class Rule:
    """A transition: a hairline at `x` and the band of its interval, if it has one."""

    x: float
    low: float | None = None
    high: float | None = None
    label: str = ""
    hue: int | None = None


@dataclass(frozen=True)
class Ticks:
    """Checkpoints, as marks on the x axis."""

    x: Numbers
    label: str = "checkpoints"


@dataclass(frozen=True)
class Rail:
    """What has no y: values that are not finite, are missing, or updates that were skipped.

    Drawn above the plot so that none of them can be taken for zero. `count` says how many fell together.
    """

    kind: Literal["nonfinite", "missing", "skipped"]
    x: Numbers
    count: tuple[int, ...]
    label: str

    def __post_init__(self) -> None:
        _same_length(f"rail {self.label!r}", self.x, self.count)


@dataclass(frozen=True)
class Heat:
    """A grid of numbers on a fixed colour scale, `values[row][column]`; rows are `y`, columns are `x`.

    None is missing (hatched), NaN or infinity is a value that is not finite (marked). Columns are names, or
    numbers on the panel's x scale. `colours` is `diverging` only where zero means something.
    """

    label: str
    x: tuple[float | str, ...]
    y: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]
    low: float
    high: float
    colours: Literal["sequential", "diverging"] = "sequential"
    scale: Literal["linear", "log"] = "linear"

    def __post_init__(self) -> None:
        _same_length(f"heat map {self.label!r}", self.y, self.values)
        for row in self.values:
            _same_length(f"heat map {self.label!r}", self.x, row)


@dataclass(frozen=True)
class Text:
    """Words inside a panel, e.g. why it is empty."""

    text: str


@dataclass(frozen=True)
class Column:
    """A table's column; its kind says how its cells are written and compared."""

    title: str
    kind: Literal["text", "name", "step", "number", "probability", "interval", "prose"] = "text"


@dataclass(frozen=True)
class Table:
    """Rows of cells: strings, numbers, None where there is nothing, pairs for intervals."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def __post_init__(self) -> None:
        for row in self.rows:
            _same_length("table", self.columns, row)


Mark = Line | Points | Rule | Ticks | Rail | Heat | Text | Table


@dataclass(frozen=True)
class Panel:
    """One pair of axes. `latest` is the value a reader wants without reading the curve."""

    title: str
    marks: tuple[Mark, ...]
    x: str = "step"
    y: str = ""
    x_scale: Scale = "step"
    y_scale: Scale = "linear"
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None
    latest: str = ""

    def __post_init__(self) -> None:
        for scale in (self.x_scale, self.y_scale):
            if scale not in SCALES:
                raise BadContract("unknown scale of an axis", received=scale, allowed=", ".join(SCALES))


@dataclass(frozen=True)
class Figure:
    """Panels in reading order, `columns` to a row; `note` tells what was left out, merged or counted."""

    title: str
    panels: tuple[Panel, ...]
    note: str = ""
    columns: int = 1

    @property
    def table(self) -> Table | None:
        """The table it holds, if it is one."""
        marks = (mark for panel in self.panels for mark in panel.marks)
        return next((mark for mark in marks if isinstance(mark, Table)), None)

    def plain(self) -> dict[str, Any]:
        """Dicts, lists, strings and finite numbers only; NaN and infinities become their names."""
        return plain(self)


def plain(value: Any) -> Any:
    """Any description as JSON values; a mark carries its type under `mark`."""
    if is_dataclass(value):
        kind = {"mark": type(value).__name__} if isinstance(value, Mark) else {}
        return {**kind, **{field.name: plain(getattr(value, field.name)) for field in fields(value)}}
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value
