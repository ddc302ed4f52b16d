"""Values that stand out from those right before them (TEL-07)."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

#: A window that varies less than this is constant, and nothing stands out from it.
CONSTANT = 1e-10
#: Windows whose moments are taken at once, which bounds the memory of a long series.
AT_ONCE = 8192


def deviations(values: NDArray[np.float64], window: int) -> NDArray[np.float64]:
    """By how many standard deviations each value lies above the mean of the `window` values before it.

    Population deviation; NaN without a full window, or with one that is constant.
    """
    found = np.full(len(values), np.nan)
    before = sliding_window_view(values, window)[:-1] if len(values) > window else np.empty((0, window))
    for start in range(0, len(before), AT_ONCE):
        windows = before[start : start + AT_ONCE]
        at = slice(window + start, window + start + len(windows))
        spread = windows.std(axis=1)
        spread[spread < CONSTANT] = np.nan
        found[at] = (values[at] - windows.mean(axis=1)) / spread
    return found
