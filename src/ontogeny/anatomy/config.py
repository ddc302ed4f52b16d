"""Numbers in other people's configs, where a missing one, None and 0 all mean: there is none."""

from typing import Any


def number_of(source: Any, name: str) -> float:
    """A number by its name; 0 where there is none."""
    value = getattr(source, name, None)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0


def number(source: Any, name: str) -> int:
    """A count by its name; 0 where there is none."""
    return int(number_of(source, name))
