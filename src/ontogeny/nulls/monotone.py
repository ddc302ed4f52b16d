"""Surrogates of a series that only rises, or only falls: its monotone trend, and noise with its memory."""

import numpy as np
import scipy.optimize
from numpy.typing import NDArray

from ontogeny.catalogue import null
from ontogeny.statistics.surrogate import remembered_noise, surrogates
from ontogeny.statistics.trend import without_outliers


@null(source="definition ours; isotonic regression, Barlow et al. 1972", of="series")
def monotone(steps: NDArray, values: NDArray, *, draws: int = 199, seed: int = 0) -> NDArray:
    """The series as it would be if it had never turned round: its best monotone course and AR(1) noise.

    Rising or falling, whichever fits better by least squares; memory and size of the noise come from
    differences of the series itself, for the best monotone course swallows part of the noise. Returns draws
    [draw, checkpoint].
    Known: a rise with noise -> the rise with other noise; a peak -> a rise to a level.
    Misleads: steps are part of it; only a turn can be beyond it. A wandering series looks all noise, so its
    turns are not beyond it either.
    """

    def draw(_: NDArray, kept: NDArray, count: int, rng: np.random.Generator) -> NDArray:
        clean = without_outliers(kept)
        ways = [scipy.optimize.isotonic_regression(clean, increasing=up).x for up in (True, False)]
        course = min(ways, key=lambda way: float(np.square(clean - way).sum()))
        return course + remembered_noise(kept - course, count, rng, scale=kept)

    return surrogates(draw, steps, values, draws, seed)
