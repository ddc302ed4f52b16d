"""Surrogates of a series that keeps its level: noise with the memory the series has."""

import numpy as np
from numpy.typing import NDArray

from ontogeny.catalogue import null
from ontogeny.statistics.surrogate import remembered_noise, surrogates


@null(source="definition ours; an AR(1) bootstrap, instruments.md FOR-04", of="series")
def autoregressive(steps: NDArray, values: NDArray, *, draws: int = 199, seed: int = 0) -> NDArray:
    """The series as it would be if it had only noise around one level: AR(1) of its own memory and size.

    Memory and size are taken from differences between neighbours, which a step hardly touches, and the
    shocks are drawn from the series' own. Returns draws [draw, checkpoint] around its median.
    Known: white noise -> white noise of its size; a step of 4 sds -> noise of about 1.1 sds without the step.
    Misleads: a trend is no part of it, so a trending series is far beyond it: use `trend_matched` for that.
    Neighbours are checkpoints, however far apart in steps.
    """

    def draw(_: NDArray, kept: NDArray, count: int, rng: np.random.Generator) -> NDArray:
        return np.median(kept) + remembered_noise(kept, count, rng)

    return surrogates(draw, steps, values, draws, seed)
