"""Where a crossing could as well have been: residuals drawn again along a fitted curve."""

import numpy as np
from numpy.typing import NDArray

from ontogeny.statistics.crossing import crossing
from ontogeny.statistics.noise import spread

#: A residual of more local sds is drawn as this many: beside noise that is nearly 0 it would be boundless.
LARGEST_UNIT = 10.0


def resampled_crossings(
    positions: NDArray,
    curve: NDArray,
    residuals: NDArray,
    *,
    noise: NDArray,
    windows: tuple[slice, slice],
    hold: int,
    draws: int,
    seed: int,
) -> NDArray:
    """Half-rise positions [at most `draws`] of series made of curve [point] and residuals drawn again.

    Residuals [point] are divided by the local noise [point], drawn with replacement and multiplied by the
    noise where they land; the two levels are taken anew in every draw, from the two windows. Draws that
    never hold half of their rise are left out.
    Known: no residuals -> `draws` times the curve's own crossing.
    Misleads: drawing one by one forgets that neighbours may be alike; the spread is then too small.
    """
    units = np.divide(residuals, noise, out=np.zeros_like(residuals), where=noise > 0)
    units = units - np.median(units)
    scale = spread(units)
    units = np.clip(units / (scale if scale > 0 else 1.0), -LARGEST_UNIT, LARGEST_UNIT)
    series = curve + noise * np.random.default_rng(seed).choice(units, (draws, residuals.size))
    start, end = (np.median(series[:, window], axis=1) for window in windows)
    found = crossing(positions, series, (start + end) / 2, hold)
    return found[np.isfinite(found)]
