"""Numbers and findings as a person reads them."""

import math
from typing import Any

import pandas as pd

from ontogeny.views.tables import place_words, text_of, words

#: What a verdict says, to somebody who has not read how detectors work.
VERDICTS = {
    "transition": "formed",
    "none": "no change beyond the noise",
    "gradual": "changed, but over too long a stretch to name a time",
    "unfinished": "was still changing when the run ended",
    "before-start": "was there before the first measured checkpoint",
}
GRADES = {
    "E": ("exact", "A repeat in a fresh process gave the same bits."),
    "D": ("deterministic", "A repeat gives the same numbers on this device, build and number of threads."),
    "S": ("statistical", "A repeat gives the same distribution, not the same numbers."),
}
MISSING = "—"
#: A space at which no line may break.
UNBROKEN = "\u00a0"


def short_number(value: float) -> str:
    """A tick's label: 0, 0.25, 1k, 2.5M, 1e-05."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if size <= abs(value) < 1e13:
            return f"{value / size:.4g}{letter}"
    if abs(value) < 1e-3 or abs(value) >= 1e13:
        mantissa, exponent = f"{value:.2e}".split("e")
        return f"{float(mantissa):g}e{int(exponent)}".replace("-", "−")
    return f"{value:.4g}".replace("-", "−")


def number(value: Any, digits: int = 3) -> str:
    """A measured number to three significant digits; a dash where there is none."""
    if value is None or pd.isna(value):
        return MISSING
    value = float(value)
    if not math.isfinite(value):
        return "∞" if value > 0 else "−∞"
    if 1e3 <= abs(value) < 1e15:
        return f"{value:,.0f}".replace("-", "−")
    return f"{value:.{digits}g}".replace("-", "−")


def count(value: Any) -> str:
    """A whole number with separators; steps and counters."""
    return MISSING if value is None or pd.isna(value) else f"{round(float(value)):,}"


def rounded(value: Any) -> str:
    """A large count to three digits: 16.4M."""
    return MISSING if value is None or pd.isna(value) else short_number(float(f"{float(value):.3g}"))


def probability(value: Any) -> str:
    """A p-value; very small ones as a bound."""
    if value is None or pd.isna(value):
        return MISSING
    return "< 0.0001" if value < 1e-4 else f"{value:.2g}"


def interval(pair: tuple[Any, Any] | None) -> str:
    """An interval of steps; an open side is an ellipsis."""
    if pair is None:
        return MISSING
    low, high = ("…" if side is None or pd.isna(side) else count(side) for side in pair)
    return f"{low} – {high}"


def duration(seconds: Any) -> str:
    """Seconds as the two largest units that matter."""
    if seconds is None or pd.isna(seconds):
        return MISSING
    seconds = float(seconds)
    if seconds < 60:
        return f"{seconds:.3g} s"
    minutes, hours, days = seconds / 60, seconds / 3600, seconds / 86400
    if minutes < 60:
        return f"{int(minutes)} min {int(seconds % 60)} s"
    if hours < 48:
        return f"{int(hours)} h {int(minutes % 60)} min"
    return f"{int(days)} d {int(hours % 24)} h"


def size(count_of_bytes: Any) -> str:
    """Bytes in decimal units."""
    if count_of_bytes is None or pd.isna(count_of_bytes):
        return MISSING
    amount = float(count_of_bytes)
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1000:
            return f"{amount:.3g} {unit}"
        amount /= 1000
    return f"{amount:.3g} TB"


def as_sentence(words_: str) -> str:
    """With a capital and a full stop; nothing stays nothing."""
    words_ = words_.strip()
    return (
        words_[:1].upper() + words_[1:] + ("" if words_.endswith((".", "!", "?")) else ".") if words_ else ""
    )


def sentence(row: pd.Series) -> tuple[str, str, str]:
    """A claimed transition in plain words: (lead, name, rest), so that a page may set the name apart."""
    low, high, level = row.get("low"), row.get("high"), row.get("level")
    held = ""
    if not (pd.isna(low) and pd.isna(high)):
        share = "95" if level is None or pd.isna(level) else f"{100 * float(level):g}"
        held = f" ({share} % interval {interval((low, high))})"
    lead = f"At step {count(row['step'])}{held}, "
    name = f"{words(text_of(row, 'part'))} in {place_words(row)}"
    if stimulus := text_of(row, "stimulus_name"):
        name += f", on {words(stimulus)},"
    return lead, name, _change(row) + _chance(row)


def _change(row: pd.Series) -> str:
    change, unit = row.get("size"), text_of(row, "unit")
    if change is None or pd.isna(change):
        return " changed."
    verb = "rose" if float(change) > 0 else "fell"
    said = f" {verb} by {number(abs(float(change)))}{f' ({unit})' if unit else ''}"
    width = row.get("width")
    if width is not None and pd.notna(width):
        said += f", most of it while the step count grew {math.exp(float(width)):.2g}-fold"
    return said + "."


def _chance(row: pd.Series) -> str:
    p = row.get("p")
    if p is None or pd.isna(p):
        return " No null was measured, so there is no p-value."
    q = row.get("q")
    over_all = "" if q is None or pd.isna(q) else f", {_equals('q', q)} over all parts"
    return f" The null alone reaches this with {_equals('p', p)}{over_all}."


def _equals(letter: str, value: float) -> str:
    """`p = 0.005`, or `p < 0.001`, on one line."""
    said = probability(value)
    return (f"{letter} {said}" if said.startswith("<") else f"{letter} = {said}").replace(" ", UNBROKEN)
