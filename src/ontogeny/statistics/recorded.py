"""Series as they were recorded: numbers at steps, which need not be evenly spaced."""

from typing import NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray


class Recorded(NamedTuple):
    """The finite values of one metric, by step; of a step the last one that was recorded."""

    steps: NDArray[np.int64]
    values: NDArray[np.float64]

    @classmethod
    def of(cls, telemetry: pd.DataFrame, metric: str) -> Self:
        """From a table with `step` and the metric; absent, NaN and infinite values are left out."""
        values = telemetry[metric].to_numpy(dtype=np.float64, na_value=np.nan)
        steps = telemetry["step"].to_numpy(dtype=np.int64)
        kept = np.isfinite(values)
        steps, values = steps[kept], values[kept]
        order = np.argsort(steps, kind="stable")
        steps, values = steps[order], values[order]
        last = np.append(steps[1:] != steps[:-1], True)[: len(steps)]
        return cls(steps[last], values[last])

    def smooth(self, half_life: float) -> "Recorded":
        """Its exponential moving average: what lies `half_life` steps back weighs half; it begins at the
        first value."""
        found = self.values.copy()
        weights = 0.5 ** (np.diff(self.steps) / half_life)
        for index, weight in enumerate(weights, start=1):
            found[index] = weight * found[index - 1] + (1 - weight) * self.values[index]
        return Recorded(self.steps, found)

    def earlier(self, distance: int) -> NDArray[np.float64]:
        """The value so many steps before each step, or the last one before that; NaN where there is none."""
        index = np.searchsorted(self.steps, self.steps - distance, side="right") - 1
        return np.where(index >= 0, self.values[np.maximum(index, 0)], np.nan)

    def marks(self, every: int) -> list[int]:
        """Where to speak of it: the last record in each stretch of so many steps."""
        stretch = (self.steps - 1) // every
        ends = np.append(stretch[1:] != stretch[:-1], True)[: len(stretch)]
        return np.flatnonzero(ends).tolist()
