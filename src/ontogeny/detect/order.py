"""Which of two changes came first, and by how much: within a run, and over seeds."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ontogeny.detect.chosen import chosen_changes, claims
from ontogeny.errors import UnknownName
from ontogeny.statistics.intervals import t_interval
from ontogeny.statistics.paired import paired_effects

#: Said where the interval of a lead holds 0, or there is none.
NEITHER = "none"
COLUMNS = {
    **dict.fromkeys(("run", "first", "second"), "str"),
    **dict.fromkeys(("first_step", "second_step", "lead", "low", "high"), "float64"),
    "n": "Int64",
    "earlier": "str",
    "p": "float64",
    "seeds_needed": "Int64",
    "reason": "str",
}


class When(NamedTuple):
    """A step and what bounds it."""

    step: float
    low: float
    high: float


def lead(first: When, second: When) -> tuple[float, float, float]:
    """Lead of the first change over the second, log10 of the ratio of their steps, with its interval.

    The two intervals are taken as independent and joined in log step (MOVER):
    lead − √((t₂ − low₂)² + (high₁ − t₁)²), lead + √((high₂ − t₂)² + (t₁ − low₁)²). Step 0 counts as ½.
    Known: equal steps -> 0 with 0 in its interval; steps known exactly -> no width.
    Misleads: changes between the same two checkpoints cannot be ordered, and the interval says so; noise that
    both series share makes it too wide.
    Source: Zou & Donner 2008 (recalled).
    """
    (a, a_low, a_high), (b, b_low, b_high) = (tuple(map(_log, when)) for when in (first, second))
    found = b - a
    return found, found - math.hypot(b - b_low, a_high - a), found + math.hypot(b_high - b, a - a_low)


def leads(
    tables: Mapping[str, pd.DataFrame], first: str, second: str, *, alpha: float = 0.05
) -> pd.DataFrame:
    """How much earlier `first` changed than `second`: a row for every run, and one over all of them.

    tables   what `detect` gave for each run, by the runs' names; of each part its best claimed change counts,
             on one stimulus for both if there is one, and on that on which most runs claim it
    lead     log10 t_second − log10 t_first: 1 is a factor of ten, above 0 `first` came first
    earlier  `first`, `second`, or `none` where the interval holds 0
    The last row, whose `run` is empty, is the mean over the runs that show both, with Student's interval over
    runs (one run has none) and p by sign flips. Reasons say why there is no p, and what a run lacks.
    UnknownName for a part that was not looked at.
    """
    found = chosen_changes(tables)
    for name in (first, second):
        if name not in set(found["part"]):
            raise UnknownName("part that was looked at", name, set(found["part"]))
    ones, others = (claims(found[found["part"] == name]) for name in (first, second))
    shared = set(ones["stimulus_name"]) & set(others["stimulus_name"])
    if shared:
        ones, others = (some[some["stimulus_name"].isin(shared)] for some in (ones, others))
    ones, others = _times(ones), _times(others)
    rows = [_of_run(run, (first, ones.get(run)), (second, others.get(run))) for run in tables]
    rows.append(_over_runs(rows, first, second, alpha))
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)


def _log(step: float) -> float:
    return math.log10(max(step, 0.5))


def _times(claimed: pd.DataFrame) -> dict[str, When]:
    """When a part changed in each run that claims it, on the stimulus on which most do."""
    if claimed.empty:
        return {}
    stimulus = claimed["stimulus_name"].value_counts().sort_index(kind="stable").idxmax()
    return {
        row["run"]: When(row["step"], _or(row["low"], row["step"]), _or(row["high"], row["step"]))
        for row in claimed[claimed["stimulus_name"] == stimulus].to_dict("records")
    }


def _or(bound: float, step: float) -> float:
    return step if pd.isna(bound) else bound


def _of_run(run: str, first: tuple[str, When | None], second: tuple[str, When | None]) -> dict[str, Any]:
    row: dict[str, Any] = {
        "run": run,
        "first": first[0],
        "second": second[0],
        "n": 1,
        "earlier": NEITHER,
        "reason": "",
    }
    lacking = [name for name, when in (first, second) if when is None]
    if first[1] is None or second[1] is None:
        return {**row, "n": 0, "reason": f"no claimed change of {' and '.join(lacking)}"}
    value, low, high = lead(first[1], second[1])
    steps = {"first_step": first[1].step, "second_step": second[1].step}
    return {**row, **steps, "lead": value, "low": low, "high": high, "earlier": _earlier(row, low, high)}


def _earlier(row: Mapping[str, Any], low: float, high: float) -> str:
    return row["first"] if low > 0 else row["second"] if high < 0 else NEITHER


def _over_runs(rows: list[dict[str, Any]], first: str, second: str, alpha: float) -> dict[str, Any]:
    both = [row for row in rows if row["n"]]
    gaps = np.array([row["lead"] for row in both], dtype=np.float64)
    mean = t_interval(gaps, level=1 - alpha)
    (effect,) = paired_effects(gaps[:, None], alpha=alpha)
    row = {"run": "", "first": first, "second": second, "n": len(both)}
    missing = f"{len(rows) - len(both)} of {len(rows)} runs do not show both" if len(both) < len(rows) else ""
    reasons = dict.fromkeys((missing, mean.reason, effect.p.reason, effect.seeds.reason))
    low, high = (math.nan if bound is None else float(bound) for bound in (mean.low, mean.high))
    return {
        **row,
        **{
            f"{key}_step": _geometric_mean([one[f"{key}_step"] for one in both])
            for key in ("first", "second")
        },
        "lead": float(mean.value),
        "low": low,
        "high": high,
        "earlier": _earlier(row, low, high),
        "p": float(effect.p.value),
        "seeds_needed": None if effect.seeds.reason else int(effect.seeds.value),
        "reason": "; ".join(filter(None, reasons)),
    }


def _geometric_mean(steps: list[float]) -> float:
    return 10 ** float(np.mean([_log(step) for step in steps])) if steps else math.nan
