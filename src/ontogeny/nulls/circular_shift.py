"""Surrogates of a series with its own course begun elsewhere: do two series move together?"""

import numpy as np
from numpy.typing import NDArray

from ontogeny.catalogue import null
from ontogeny.statistics.surrogate import surrogates


@null(source="standard surrogate; instruments.md section 10", of="series")
def circular_shift(steps: NDArray, values: NDArray, *, draws: int = 199, seed: int = 0) -> NDArray:
    """The series turned round by a random number of checkpoints, its end joined to its beginning.

    Keeps every value and all of the memory but at the join; breaks only when things happened. Shifts are at
    least a tenth of the series. Returns draws [draw, checkpoint].
    Known: sorted values of every draw are those of the series.
    Misleads: a step is in every draw, and the join is a step of its own, so nothing that asks whether a step
    is there can be held against it. There are only n different shifts.
    """

    def draw(_: NDArray, kept: NDArray, count: int, rng: np.random.Generator) -> NDArray:
        least = max(1, kept.size // 10)
        shifts = rng.integers(least, kept.size - least + 1, count)
        return kept[(np.arange(kept.size) + shifts[:, None]) % kept.size]

    return surrogates(draw, steps, values, draws, seed)
