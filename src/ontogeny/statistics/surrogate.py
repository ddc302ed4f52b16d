"""What all surrogates of a single series share: what is left out, what is too short, and what is drawn."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ontogeny.errors import BadContract
from ontogeny.statistics.autoregression import autoregressive_noise, noise_memory, noise_sd
from ontogeny.statistics.seeding import generator_for

#: Fewest finite values a surrogate is made of.
FEWEST_POINTS = 8

#: (steps [point], values [point], number of draws, generator) -> draws [draw, point]
Draw = Callable[[NDArray, NDArray, int, np.random.Generator], NDArray]


def surrogates(draw: Draw, steps: NDArray, values: NDArray, draws: int, seed: int) -> NDArray:
    """Draws [draw, checkpoint] of a series by `draw`, which sees its finite values only.

    What is not finite stays so in every draw. A series of fewer than 8 finite values, or a constant one, is
    returned as it is in every draw. BadContract if shapes disagree or draws < 1.
    """
    steps, values = np.asarray(steps), np.asarray(values, dtype=np.float64)
    if steps.ndim != 1 or steps.shape != values.shape or draws < 1:
        received = {"steps": steps.shape, "values": values.shape, "draws": draws}
        raise BadContract(
            "surrogates of what is no series", received=received, allowed="steps [n], values [n], draws ≥ 1"
        )
    found = np.repeat(values[None], draws, axis=0)
    kept = np.flatnonzero(np.isfinite(values))
    if kept.size >= FEWEST_POINTS and np.ptp(values[kept]) > 0:
        rng = generator_for(steps, values, seed=seed)
        found[:, kept] = draw(steps[kept], values[kept], draws, rng)
    return found


def remembered_noise(values: NDArray, draws: int, rng: np.random.Generator) -> NDArray:
    """AR(1) noise [draw, point] as there is in values [point] around their level or trend.

    Memory and size come from differences (`noise_memory`), the shape of the shocks from the values' own
    innovations. A step in the values raises neither by much.
    """
    phi = float(noise_memory(values))
    innovations = values[1:] - phi * values[:-1]
    innovations = innovations - np.median(innovations)
    sd = float(noise_sd(values, phi))
    return autoregressive_noise(innovations, phi, sd, draws=draws, points=values.size, rng=rng)
