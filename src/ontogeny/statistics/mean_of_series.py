"""Several series as their mean at every step, with how many there were (field case F82)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from ontogeny.errors import BadArgument


@dataclass(frozen=True)
class MeanOfSeries:
    """Every array has one entry a step of any series.

    n          how many series have a finite value there
    mean       NaN where n is 0
    low, high  Student's interval of the mean; NaN where n is below 2
    """

    steps: NDArray
    n: NDArray
    mean: NDArray
    low: NDArray
    high: NDArray


def mean_of_series(series: Sequence[tuple[NDArray, NDArray]], *, level: float = 0.95) -> MeanOfSeries:
    """Mean over series of (steps [point], values [point]), aligned by step and never padded.

    A step that some series lack is the mean of the others, and `n` says of how many; what is not finite is
    left out likewise. Steps need neither be sorted nor equal. BadArgument for a step twice in one series.
    Known: identical series -> that series bit for bit, an interval without width.
    Misleads: where n changes the mean may jump although no series does.
    """
    for steps, values in series:
        if len(steps) != len(values) or len(np.unique(steps)) != len(steps):
            raise BadArgument(
                "a series has one value a step",
                received=f"{len(values)} values at {len(np.unique(steps))} of {len(steps)} steps",
                allowed="as many values as steps, and each step once",
                remedy="keep one attempt of a resumed run, the last one",
            )
    every = np.unique(np.concatenate([np.asarray(steps) for steps, _ in series])) if series else np.empty(0)
    table = np.full((len(series), len(every)), np.nan)
    for row, (steps, values) in zip(table, series, strict=True):
        row[np.searchsorted(every, steps)] = values
    present = np.isfinite(table)
    n = present.sum(0)
    first = np.take_along_axis(table, present.argmax(0)[None], 0)[0] if len(table) else np.empty(0)
    # Differences from one of the series, so that equal values have exactly their own mean.
    gaps = np.where(present, table - np.where(present, first, 0.0), 0.0)
    shift = gaps.sum(0) / np.maximum(n, 1)
    mean = np.where(n > 0, np.where(shift == 0, first, first + shift), np.nan)  # −0 stays −0
    squares = np.where(present, np.square(gaps - shift), 0.0).sum(0)
    freedom = np.maximum(n - 1, 1)
    half = np.asarray(stats.t.ppf((1 + level) / 2, freedom)) * np.sqrt(squares / freedom / np.maximum(n, 1))
    half = np.where(n > 1, half, np.nan)
    return MeanOfSeries(every, n, mean, mean - half, mean + half)
