"""What several runs of one configuration say together: when, in how many, and whether by chance."""

import math
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ontogeny.detect.chosen import FAMILY, chosen_changes, claims, places
from ontogeny.detect.seed_tests import SeedTest, against_controls, as_rows, by_nulls, by_signs
from ontogeny.statistics.intervals import t_interval
from ontogeny.statistics.seeds import seeds_to_show
from ontogeny.vocabulary import AXES, Reading, Status, undefined

#: A change this many times earlier or later is what `seeds_needed` is counted for.
FACTOR = 1.2
_NUMBERS = ("step", "low", "high", "level", "median", "size", "size_low", "size_high")
COLUMNS = {
    "part": "str",
    "component": "str",
    **{axis: "Int64" if kind is int else "str" for axis, kind in AXES.items()},
    **dict.fromkeys(("stimulus_name", "unit", "method", "settings", "null", "by"), "str"),
    "runs": "Int64",
    "shown": "Int64",
    **dict.fromkeys(_NUMBERS, "float64"),
    "where": "str",
    "controls": "Int64",
    "controls_shown": "Int64",
    **dict.fromkeys(("p", "p_family"), "float64"),
    "test": "str",
    "seeds_needed": "Int64",
    "reason": "str",
}


def over_seeds(
    tables: Mapping[str, pd.DataFrame],
    controls: Mapping[str, pd.DataFrame] | None = None,
    *,
    by: str = "best",
    alpha: float = 0.05,
) -> pd.DataFrame:
    """Runs of one configuration together; `tables` and `controls` are what `detect` gave for each run.

    by "best" each run speaks by its own best place, by "place" by the same place in every run. A row has

    shown, runs    how many runs claim the change, of how many in which it was looked for
    step, low, high   exp of the mean of ln step over the runs that claim it, with Student's interval at
                   1 − alpha over runs (step 0 counts as ½); `median` is the middle of them
    size …         mean size over all runs, claimed or not, with Student's interval
    where          the places that were best, and in how many runs
    p, p_family    alone, and against the largest of all rows; `test` says how:
                   labels  runs against controls: |difference of mean sizes| over all ways to deal the labels
                   signs   by place, without controls: sizes are as likely of the other sign
                   nulls   by best, without controls: Fisher's combination of the runs' own p, each of which
                           pays for the choice of its place; the null is that no run shows anything
    seeds_needed   runs an arm that would show a step earlier or later by a factor of 1.2

    One run gives an effect and no p. What is missing has its reason.
    Misleads: where all runs change between the same two checkpoints, the interval over runs does not know it,
    and the reason says so; the mean step is of the runs that claim a change, and where others have not
    changed *yet*, it is too early.
    """
    chosen, held = chosen_changes(tables, by), chosen_changes(controls or {}, by)
    keys = [*FAMILY, *places(by)]
    groups = [frame for _, frame in chosen.groupby(keys, dropna=False, sort=False)]
    others = [_matching(held, frame.iloc[0], keys) for frame in groups]
    tests = _tests(groups, others, tables, controls, by, alpha)
    rows = []
    for frame, other, test in zip(groups, others, tests, strict=True):
        beside = {"controls": len(controls), "controls_shown": len(claims(other))} if controls else {}
        rows.append({**_row(frame, test, by, alpha), **beside})
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)


def _tests(
    groups: list[pd.DataFrame],
    others: list[pd.DataFrame],
    tables: Mapping[str, Any],
    controls: Mapping[str, Any] | None,
    by: str,
    alpha: float,
) -> list[SeedTest]:
    """One test a group: against controls where there are some, else by signs or by the runs' own p."""
    sizes = as_rows([_by_run(frame, "size", tables) for frame in groups], len(tables))
    if controls:
        against = as_rows([_by_run(frame, "size", controls) for frame in others], len(controls))
        return against_controls(sizes, against, alpha)
    if by == "place":
        return by_signs(sizes, alpha)
    return by_nulls(as_rows([_by_run(frame, "p", tables) for frame in groups], len(tables)))


def _by_run(frame: pd.DataFrame, column: str, tables: Mapping[str, Any]) -> NDArray:
    """A number of each run; NaN where it was not looked for."""
    return frame.set_index("run")[column].reindex(list(tables)).to_numpy(dtype=np.float64, na_value=np.nan)


def _matching(held: pd.DataFrame, like: pd.Series, keys: list[str]) -> pd.DataFrame:
    """The rows of controls that are of the same part, stimulus and place."""
    same = np.ones(len(held), dtype=bool)
    for key in keys:
        here = held[key].isna() if pd.isna(like[key]) else held[key].eq(like[key])
        same &= here.fillna(False).to_numpy(dtype=bool)
    return held[same]


def _row(frame: pd.DataFrame, test: SeedTest, by: str, alpha: float) -> dict[str, Any]:
    first, claimed = frame.iloc[0], claims(frame)
    logs = np.log(np.maximum(claimed["step"].to_numpy(dtype=np.float64), 0.5))
    when = t_interval(logs, level=1 - alpha) if logs.size else undefined(Status.NO_TARGET, "no run claims it")
    size = t_interval(frame["size"].to_numpy(dtype=np.float64, na_value=np.nan), level=1 - alpha)
    spread = float(np.std(logs, ddof=1)) if logs.size > 1 else math.nan
    needed = seeds_to_show(math.log(FACTOR), spread, logs.size, alpha=alpha)
    reasons = dict.fromkeys(
        (test.p.reason, when.reason, needed.reason if logs.size else "", _coarse(when, claimed))
    )
    return {
        **{key: first[key] for key in (*FAMILY, *places(by), "unit", "method", "settings", "null")},
        "by": by,
        "runs": len(frame),
        "shown": len(claimed),
        **_bounds(("step", "low", "high"), when, math.exp),
        "level": 1 - alpha,
        "median": math.exp(float(np.median(logs))) if logs.size else math.nan,
        **_bounds(("size", "size_low", "size_high"), size, float),
        "where": _where(claimed) if by == "best" else "",
        "p": float(test.p.value),
        "p_family": float(test.p_family.value),
        "test": test.test,
        "seeds_needed": None if needed.reason else int(needed.value),
        "reason": "; ".join(filter(None, reasons)),
    }


def _bounds(names: tuple[str, str, str], found: Reading, read: Callable[[float], float]) -> dict[str, float]:
    """A value and its interval under their names; NaN where there is none."""
    values = (found.value, found.low, found.high)
    return {
        n: math.nan if v is None or v != v else read(float(v)) for n, v in zip(names, values, strict=True)
    }


def _coarse(when: Reading, claimed: pd.DataFrame) -> str:
    """Said where the runs agree better than each of them is known: what they share is not averaged out."""
    low, high = claimed["low"].median(), claimed["high"].median()
    if when.low is None or when.high is None or not low < high:
        return ""
    within, over = math.log(max(high, 0.5) / max(low, 0.5)), float(when.high) - float(when.low)
    return (
        f"one run's own interval is wider, {low:.0f} to {high:.0f}: more checkpoints there would say more"
        if within > over
        else ""
    )


def _where(claimed: pd.DataFrame) -> str:
    """The places that were best, the commonest first: `layer 1 head 2 (4), layer 1 head 0`."""
    counts = Counter(
        " ".join(f"{axis} {row[axis]}" for axis in AXES if not pd.isna(row[axis]))
        for row in claimed.to_dict("records")
    )
    named = [(place, count) for place, count in counts.most_common() if place]
    return ", ".join(f"{place} ({count})" if count > 1 else place for place, count in named)
