"""Surrogates of a series that drifts smoothly: its trend, and noise with the memory it has."""

import numpy as np
from numpy.typing import NDArray

from ontogeny.catalogue import null
from ontogeny.statistics.surrogate import remembered_noise, surrogates
from ontogeny.statistics.trend import trend_and_changes, without_outliers


@null(source="definition ours; instruments.md FOR-04", of="series")
def trend_matched(steps: NDArray, values: NDArray, *, draws: int = 199, seed: int = 0) -> NDArray:
    """The series as it would be if it only drifted: the smooth trend that fits best, and AR(1) noise.

    The trend is the simplest adequate of polynomials in step or in ln step up to the fifth degree,
    exponential decay and power law; of a series that is better described by abrupt changes on top of a
    level, a line or a parabola it is these without the changes. Memory and size of the noise come from
    differences of what is left over. Returns draws [draw, checkpoint].
    Known: a power law with noise -> the same power law with other noise; white noise -> white noise.
    Misleads: a smooth trend of none of these shapes is followed loosely. Slow changes of any kind are in the
    null, so only what is abrupt can be beyond it.
    """

    def draw(kept_steps: NDArray, kept: NDArray, count: int, rng: np.random.Generator) -> NDArray:
        trend, changes = trend_and_changes(kept_steps, without_outliers(kept))
        return trend + remembered_noise(kept - trend - changes, count, rng)

    return surrogates(draw, steps, values, draws, seed)
