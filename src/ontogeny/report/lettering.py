"""Text in drawings: how wide it will be, and where labels go so that they do not cover each other."""

import unicodedata
from collections.abc import Sequence

LONGEST = 34
#: Mean advance of a character in a sans-serif face, in ems; a wide one (CJK, emoji) takes a whole em.
NARROW, WIDE = 0.54, 1.1


def clean(text: str, longest: int = LONGEST) -> str:
    """One line without control characters, cut to a length that fits a label."""
    shown = "".join(" " if unicodedata.category(c) in ("Cc", "Cs", "Cn", "Zl", "Zp") else c for c in text)
    shown = "".join(c for c in shown if unicodedata.category(c) != "Cf" or c == "\u200d").strip()
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


def width(text: str, size: float) -> float:
    """About how many pixels a text takes at a font size."""
    return size * sum(WIDE if unicodedata.east_asian_width(c) in "WF" else NARROW for c in text)


def spread(wanted: Sequence[float], apart: float, low: float, high: float) -> list[float]:
    """Positions as near as possible to the wanted ones, `apart` from each other, in the same order.

    Labels are pushed up from the lowest, then back down where they would leave the range.
    """
    order = sorted(range(len(wanted)), key=lambda index: wanted[index])
    placed = [min(max(wanted[index], low), high) for index in order]
    for index in range(1, len(placed)):
        placed[index] = max(placed[index], placed[index - 1] + apart)
    for index in range(len(placed) - 1, -1, -1):
        ceiling = high if index == len(placed) - 1 else placed[index + 1] - apart
        placed[index] = min(placed[index], ceiling)
    result = [0.0] * len(wanted)
    for index, position in zip(order, placed, strict=True):
        result[index] = position
    return result


def stack(
    starts: Sequence[float], widths: Sequence[float], left: float, right: float
) -> list[tuple[int, float]]:
    """For labels from left to right, each with a line down at its start: a free row (0 lowest) and its left.

    Rows are given out from the right, so that a line reaches its label without crossing another. A label that
    would pass the right edge is moved left of it.
    """
    begins_of_rows: list[float] = []
    placed = []
    for start, wide in reversed(list(zip(starts, widths, strict=True))):
        begin = max(min(start, right - wide), left)
        free = (index for index, taken in enumerate(begins_of_rows) if begin + wide + 8 <= taken)
        row = next(free, len(begins_of_rows))
        begins_of_rows[row : row + 1] = [begin]
        placed.append((row, begin))
    return placed[::-1]
