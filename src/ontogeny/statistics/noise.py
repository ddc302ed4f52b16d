"""The noise of one short series, told apart from its drift."""

import numpy as np
from numpy.typing import NDArray

from ontogeny.vocabulary import Reading, Status, undefined

#: Fewest points a noise scale is estimated from: three deviations.
FEWEST_POINTS = 5
#: Median absolute value of a standard normal, inverted.
MAD_TO_SD = 1.4826
#: Deviations beyond this many sds (by the median) count as this many.
CLIP = 2.5
#: No noise is smaller than this share of the largest value: single precision resolves little less.
RELATIVE_FLOOR = 1e-6
#: A memory above this cannot be told from a random walk in a short series.
LONGEST_MEMORY = 0.9


def noise_scale(positions: NDArray, values: NDArray, *, largest: float | None = None) -> Reading:
    """Standard deviation of the noise in values [point] at increasing positions [point].

    Each inner point's deviation from the line through its two neighbours, scaled to the noise's own sd, then
    their `spread`. No smooth trend reaches it. Never below 1e-6 of `largest` (by default the largest
    absolute value), so that a constant stretch divides nothing by zero. `n` is the number of points.
    Status: `too-short` below 5 points, `nonfinite`.
    Known: white noise of sd s -> s, give or take a quarter with 20 points; any straight line -> the floor.
    Misleads: noise with a memory looks smooth: AR(0.7) reads 0.46 of its sd, a random walk 0.56 of its step.
    """
    x, y = np.asarray(positions, dtype=np.float64), np.asarray(values, dtype=np.float64)
    if y.size < FEWEST_POINTS:
        return undefined(Status.TOO_SHORT, f"{y.size} points; {FEWEST_POINTS} are needed", n=y.size)
    bad = int(np.count_nonzero(~np.isfinite(y)))
    if bad:
        return undefined(Status.NONFINITE, f"{bad} of {y.size} points", n=y.size)
    right = (x[1:-1] - x[:-2]) / (x[2:] - x[:-2])
    deviation = y[1:-1] - (1 - right) * y[:-2] - right * y[2:]
    floor = RELATIVE_FLOOR * (np.abs(y).max() if largest is None else largest)
    return Reading(max(spread(deviation / np.sqrt(1 + right**2 + (1 - right) ** 2)), float(floor)), n=y.size)


def spread(deviations: NDArray) -> float:
    """Robust root mean square of deviations [point] from 0, on the scale of a normal's sd; NaN if empty.

    Starts from the median absolute value and takes one step towards the root mean square with everything
    beyond 2.5 sds clipped, which halves the median's own error and bounds what spikes can do. Where more
    than half are exactly 0 (counts, accuracies) the mean absolute value stands in.
    Known: normal with sd s -> 0.99 s (the clipping); all 0 -> 0.
    """
    sizes = np.abs(deviations)
    if sizes.size == 0:
        return float("nan")
    scale = MAD_TO_SD * np.median(sizes)
    if scale == 0:
        return float(np.sqrt(np.pi / 2) * sizes.mean())
    # In units of the scale: squares of what is very large or very small are not numbers.
    return float(scale * np.sqrt(np.mean((np.minimum(sizes, CLIP * scale) / scale) ** 2)))


def memory(deviations: NDArray) -> float:
    """Lag-one autocorrelation of deviations [point] in their order, spikes clipped, from 0 to 0.9.

    Known: white noise -> 0 to 0.2 at 40 points; a random walk -> about 0.7.
    Misleads: what a wrong curve leaves over has a memory too.
    """
    clipped = np.clip(deviations, -CLIP * spread(deviations), CLIP * spread(deviations))
    clipped = clipped - clipped.mean()
    power = clipped @ clipped
    return float(np.clip(clipped[1:] @ clipped[:-1] / power, 0, LONGEST_MEMORY)) if power > 0 else 0.0


def lasting_spread(deviations: NDArray) -> float:
    """`spread` times √((1 + φ) / (1 − φ)), φ the `memory`: the white noise that would blur a level as much.

    Known: white noise -> its sd; AR(φ) -> √((1 + φ) / (1 − φ)) of it in long series, less in short ones.
    """
    phi = memory(deviations)
    return spread(deviations) * float(np.sqrt((1 + phi) / (1 - phi)))
