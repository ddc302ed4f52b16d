"""What all surrogates of a single series share: what is left out, what is too short, and what is drawn."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ontogeny.errors import BadContract
from ontogeny.statistics.autoregression import MAD_TO_SD, autoregressive_noise, cautious_memory, noise_sd
from ontogeny.statistics.seeding import generator_for

#: Fewest finite values a surrogate is made of.
FEWEST_POINTS = 8
#: Fewest points on either side of a step that is taken out.
FEWEST_SIDE = 3
#: Robust sds beyond which a shock counts as this many.
LARGEST_SHOCK = 6.0

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


def remembered_noise(
    values: NDArray, draws: int, rng: np.random.Generator, *, scale: NDArray | None = None
) -> NDArray:
    """AR(1) noise [draw, point] as there is in values [point] around their level or trend.

    Taken from the values without their largest step, so that a change does not pass for noise: memory and
    size from differences (`noise_memory`), the shape of the shocks from the values' own, those beyond 6
    robust sds pulled in. With `scale` [point], memory and size are those of that series.
    """
    rest = without_step(values)
    measured = rest if scale is None else without_step(scale)
    phi = float(cautious_memory(measured))
    shocks = rest[1:] - phi * rest[:-1]
    shocks = shocks - np.median(shocks)
    limit = LARGEST_SHOCK * MAD_TO_SD * np.median(np.abs(shocks))
    if limit > 0:
        shocks = np.clip(shocks, -limit, limit)
    shocks = shocks - shocks.mean()
    sd = float(noise_sd(measured, phi))
    return autoregressive_noise(shocks, phi, sd, draws=draws, points=values.size, rng=rng)


def without_step(values: NDArray) -> NDArray:
    """Values [point] less the means of the two parts, of at least 3 points, that fit best."""
    sums, points = np.cumsum(values - values.mean()), values.size
    cuts = np.arange(FEWEST_SIDE, points - FEWEST_SIDE + 1)
    cut = cuts[np.argmax(sums[cuts - 1] ** 2 / (cuts * (points - cuts)))]
    rest = values - values[:cut].mean()
    rest[cut:] = values[cut:] - values[cut:].mean()
    return rest
