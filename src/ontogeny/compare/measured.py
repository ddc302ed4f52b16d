"""What was recorded and measured of two runs, side by side at common steps and places."""

from collections.abc import Sequence

import pandas as pd

from ontogeny.compare.comparison import PLACE, Columns, Gaps
from ontogeny.compare.side import Side
from ontogeny.store.rows import read_rows
from ontogeny.vocabulary import AXES

#: Telemetry that is compared without being asked for.
METRICS = ("loss", "heldout_loss")
_VALUES: Columns = {"value": "float64", "reference_value": "float64", "difference": "float64"}
TELEMETRY: Columns = {"run": "str", "metric": "str", "step": "Int64", **_VALUES}
ROWS: Columns = {
    "run": "str",
    "part": "str",
    "component": "str",
    **PLACE,
    "stimulus_name": "str",
    "step": "Int64",
    **_VALUES,
    "reason": "str",
}
#: Two rows are of one thing where all of these agree. The run's own reference checkpoint is not among them.
ALIKE = ["part", "component", "version", "parameters", "stimulus", "condition", *AXES, "place_to", "step"]


def telemetry_side_by_side(here: Side, there: Side, metrics: Sequence[str], gaps: Gaps) -> pd.DataFrame:
    """Metrics at steps where both recorded them. Recorded NaN and infinities stay what they are."""
    if here.run is None or there.run is None:
        gaps.add(here.label, "telemetry", "a folder of checkpoints has none")
        return pd.DataFrame()
    found = []
    for metric in metrics:
        lacking = [side.label for side in (here, there) if metric not in side.run.metrics]  # pyright: ignore
        if lacking:
            gaps.add(here.label, f"telemetry {metric}", f"not recorded by {', '.join(lacking)}")
            continue
        mine, theirs = (_metric(run.telemetry(metric), metric) for run in (here.run, there.run))
        if mine is None or theirs is None:
            gaps.add(here.label, f"telemetry {metric}", "it is no number")
            continue
        both = pd.concat({"value": mine, "reference_value": theirs}, axis=1, join="inner").reset_index()
        found.append(both.assign(run=here.label, metric=metric))
    return _with_difference(found)


def _metric(frame: pd.DataFrame, metric: str) -> pd.Series | None:
    """The last value of every step, as floats."""
    last = frame.drop_duplicates("step", keep="last").set_index("step")[metric]
    try:
        return last.astype("float64")
    except (TypeError, ValueError):
        return None


def rows_side_by_side(here: Side, there: Side, gaps: Gaps) -> pd.DataFrame:
    """Rows of equal part, parameters, stimulus, place and step. Undefined values are null; `reason` says why.

    Rows of one run that have no counterpart are counted in what is left out. Nulls' rows are not compared.
    """
    frames = []
    for side in (here, there):
        rows = read_rows(side.series.home)
        if rows.empty:
            gaps.add(here.label, "measured rows", f"nothing was measured on {side.label}")
            return pd.DataFrame()
        frames.append(rows[~rows["component"].str.startswith("null:")].drop_duplicates(ALIKE, keep="last"))
    kept = [frames[0][[*ALIKE, "stimulus_name", "value", "reason"]], frames[1][[*ALIKE, "value", "reason"]]]
    both = kept[0].merge(kept[1], on=ALIKE, suffixes=("", "_there"))
    one_definition = [name for name in ALIKE if name not in ("version", "parameters")]
    newest = both.sort_values("version", kind="stable").drop_duplicates(one_definition, keep="last").index
    for side, frame in zip((here, there), frames, strict=True):
        if alone := len(frame) - len(both):
            reason = f"{alone} of its {len(frame)} have no counterpart (step, place, stimulus or part)"
            gaps.add(side.label, "measured rows", reason)
    both = both.loc[newest.sort_values()].rename(columns={"value_there": "reference_value"})
    both["reason"] = both["reason"].where(both["reason"] != "", both["reason_there"])
    return _with_difference([both.assign(run=here.label)])


def _with_difference(frames: list[pd.DataFrame]) -> pd.DataFrame:
    frames = [frame for frame in frames if len(frame)]
    if not frames:
        return pd.DataFrame()
    both = pd.concat(frames, ignore_index=True)
    both["value"] = both["value"].astype("float64")
    both["reference_value"] = both["reference_value"].astype("float64")
    return both.assign(difference=both["value"] - both["reference_value"])
