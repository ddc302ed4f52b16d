"""What a request asks for, checked; a bad query says what is allowed."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ontogeny.dashboard.strands import AXES
from ontogeny.errors import OntogenyError
from ontogeny.views.buckets import Spacing

MOST_BUCKETS, MOST_RUNS, MOST_PER_PAGE = 4000, 2000, 500
#: Metrics that one request may name.
MOST_METRICS = 64
BANDS = ("sd", "ci", "range")


class BadQuery(OntogenyError):
    """A request with a value that cannot be used: answered with status 400."""


def number(query: Mapping[str, str], name: str, default: Any, low: float, high: float) -> Any:
    """A finite number within bounds, of the default's type."""
    text = query.get(name, "")
    if text == "":
        return default
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not low <= value <= high:
        raise BadQuery(
            f"{name} is not usable", received=text[:80], allowed=f"a number from {low:g} to {high:g}"
        )
    return int(value) if isinstance(default, int) else value


def choice(query: Mapping[str, str], name: str, allowed: tuple[str, ...]) -> str:
    """One of several words; the first where nothing is said."""
    value = query.get(name) or allowed[0]
    if value not in allowed:
        raise BadQuery(f"{name} is not usable", received=value[:80], allowed=", ".join(allowed))
    return value


def required(query: Mapping[str, str], name: str) -> str:
    if name not in query:
        raise BadQuery(f"the query lacks {name}", allowed=f"{name}=…")
    return query[name]


def paged(query: Mapping[str, str], size: int = 100) -> tuple[int, int]:
    """Page, counted from 0, and how many it holds."""
    return number(query, "page", 0, 0, 1e9), number(query, "size", size, 1, MOST_PER_PAGE)


@dataclass(frozen=True)
class Ask:
    """A range of a metric in at most so many buckets; bounds are in the axis' unit."""

    metric: str
    axis: str
    scale: Spacing
    first: float
    last: float
    most: int
    smooth: float
    window: float
    band: Literal["sd", "ci", "range"]

    @classmethod
    def of(cls, query: Mapping[str, str]) -> "Ask":
        return cls(
            metric=required(query, "metric"),
            axis=choice(query, "x", tuple(AXES)),
            scale=choice(query, "scale", ("linear", "step")),  # pyright: ignore[reportArgumentType]
            first=number(query, "from", 0.0, -1e18, 1e18),
            last=number(query, "to", 2.0**42, -1e18, 1e18),
            most=number(query, "most", 600, 1, MOST_BUCKETS),
            smooth=number(query, "smooth", 0.0, 0, 0.99),
            window=number(query, "w", 0.0, 0, 1e18),
            band=choice(query, "band", BANDS),  # pyright: ignore[reportArgumentType]
        )

    @classmethod
    def several(cls, query: Mapping[str, str], metrics: Sequence[str]) -> "list[Ask]":
        """The same of every metric; one at least."""
        if len(metrics) > MOST_METRICS:
            raise BadQuery(
                "metric is not usable", received=f"{len(metrics)} names", allowed=f"1 to {MOST_METRICS} names"
            )
        return [cls.of({**query, "metric": name}) for name in metrics] or [cls.of(query)]

    @property
    def unit(self) -> int:
        """Ticks in a unit of the axis."""
        return AXES[self.axis]

    @property
    def ticks(self) -> tuple[int, int]:
        """First and last tick asked for."""
        largest = 2**52
        first, last = math.floor(self.first * self.unit), math.ceil(self.last * self.unit)
        return min(max(first, 0), largest), min(max(last, 0), largest)
