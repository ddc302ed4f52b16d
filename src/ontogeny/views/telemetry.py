"""Telemetry as marks: one row a step, the last attempt's; bands over buckets; what has no y on the rail."""

import numpy as np
import pandas as pd

from ontogeny.views.buckets import Buckets, buckets, smoothed
from ontogeny.views.figure import Line, Mark, Rail, Scale, numbers
from ontogeny.views.tables import column

#: As a rule recorded at every training step: a missing number there is one that was not finite.
DENSE = ("loss", "gradient_norm")
#: Missing at a larger share of the steps whose loss is finite, it was recorded at some steps only.
SPARSE = 1 / 3
TRAINING = ("loss", "learning_rate", "gradient_norm", "tokens", "applied")


def training_rows(telemetry: pd.DataFrame) -> pd.DataFrame:
    """The rows of training steps, without those that hold an evaluation or something else logged.

    Where `applied` was recorded, every training step has it, even one whose numbers are all NaN.
    """
    trained = [name for name in TRAINING if name in telemetry]
    if "applied" in trained:
        return telemetry[telemetry[trained].notna().any(axis=1)]
    if "heldout_loss" not in telemetry:
        return telemetry
    return telemetry[telemetry[trained].notna().any(axis=1) | telemetry["heldout_loss"].isna()]


def kept(training: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The rows that count (the last attempt at each step) and those replaced, both in steps' order."""
    if "step" not in training:
        return training, training.iloc[:0]
    order = [name for name in ("step", "attempt") if name in training]
    ordered = training.sort_values(order, kind="stable")
    replaced = ordered.duplicated("step", keep="last")
    return ordered[~replaced], ordered[replaced]


def recorded(training: pd.DataFrame, metric: str) -> tuple[np.ndarray, np.ndarray]:
    """Steps and values of a metric; a gap in one that is not recorded at every step is no value at all."""
    steps, values = column(training, "step"), column(training, metric)
    there = np.isfinite(steps)
    if not _dense(training, metric, values):
        there &= ~np.isnan(values)
    return steps[there].astype(np.int64), values[there]


def _dense(training: pd.DataFrame, metric: str, values: np.ndarray) -> bool:
    """Whether a metric was recorded at every step (`Recorder(every=…)` may take it less often)."""
    if metric not in DENSE:
        return False
    sound = np.isfinite(column(training, "loss"))
    return not sound.any() or float(np.isnan(values[sound]).mean()) <= SPARSE


def banded(
    training: pd.DataFrame,
    metric: str,
    label: str,
    *,
    window: float = 0.1,
    most: int = 300,
    scale: Scale = "step",
    hue: int = 0,
) -> tuple[Mark, ...]:
    """A metric as a min-max band with a running mean, and its non-finite values on the rail."""
    steps, values = recorded(training, metric)
    held = buckets(steps, values, spacing="step" if scale == "step" else "linear", most=most)
    line = Line(
        label,
        numbers(held.centre),
        numbers(
            np.where(
                held.count > held.nonfinite, smoothed(steps, values, at=held.centre, window=window), np.nan
            )
        ),
        numbers(held.low),
        numbers(held.high),
        hue=hue,
    )
    return (line, *nonfinite_rail(held))


def nonfinite_rail(held: Buckets) -> tuple[Rail, ...]:
    """Buckets that hold values which are not finite, with how many."""
    lost = held.nonfinite > 0
    if not lost.any():
        return ()
    count = tuple(int(n) for n in held.nonfinite[lost])
    return (Rail("nonfinite", numbers(held.centre[lost]), count, "non-finite"),)


def skipped_rail(training: pd.DataFrame, *, most: int = 300, scale: Scale = "step") -> tuple[Rail, ...]:
    """Steps whose update was not applied."""
    if "applied" not in training:
        return ()
    applied = training["applied"].astype("boolean").fillna(True).to_numpy(dtype=bool)
    steps = column(training, "step")[~applied].astype(np.int64)
    if not steps.size:
        return ()
    held = buckets(steps, np.zeros(len(steps)), spacing="step" if scale == "step" else "linear", most=most)
    return (Rail("skipped", numbers(held.centre), tuple(map(int, held.count)), "update skipped"),)
