"""Noise that remembers: its lag-one memory told apart from steps and drift, and series drawn with it."""

import numpy as np
import scipy.signal
from numpy.typing import NDArray

#: Differences beyond this many sds (by the median) count as this many: a step is one of them.
CLIP = 3.0
#: A larger memory cannot be told from a random walk in a short series.
LONGEST_MEMORY = 0.95
#: A memory is counted higher by this over √n where too small a one would make claims.
CAUTION = 0.4
#: Steps a drawn series runs before it is looked at.
WARM_UP = 60
#: Median absolute value of a standard normal, inverted.
MAD_TO_SD = 1.4826


def noise_memory(values: NDArray) -> NDArray:
    """Lag-one autocorrelation φ [...] of the noise in values [..., point], from 0 to 0.95.

    From sizes of differences: Var(x_t − x_{t−2}) / Var(x_t − x_{t−1}) = 1 + φ for AR(1), and with lag 3 it is
    1 + φ + φ²; the two answers weigh alike. Differences are clipped at 3 of their sds. A level that is left
    for another is one difference of many, so steps and slow drift do not look like memory, as they do to the
    autocorrelation of the values. 0 where the series is constant or shorter than 8 points.
    Known: white noise -> 0 give or take 0.12 at 60 points (cut at 0); AR(0.7) -> 0.7 give or take 0.2.
    Misleads: it is blunt in short series; a drift faster than the noise counts as memory.
    """
    values = np.asarray(values, dtype=np.float64)
    if values.shape[-1] < 8:
        return np.zeros(values.shape[:-1])
    one, two, three = (_power(values[..., lag:] - values[..., :-lag]) for lag in (1, 2, 3))
    whole = np.where(one > 0, one, 1.0)
    by_two = two / whole - 1
    by_three = (np.sqrt(np.maximum(4 * three / whole - 3, 0)) - 1) / 2
    return np.asarray(np.where(one > 0, np.clip((by_two + by_three) / 2, 0.0, LONGEST_MEMORY), 0.0))


def cautious_memory(values: NDArray) -> NDArray:
    """`noise_memory` [...] counted higher by 0.4 / √n, a quarter of its standard error, at most 0.95."""
    found = noise_memory(values) + CAUTION / np.sqrt(np.shape(values)[-1])
    return np.asarray(np.minimum(found, LONGEST_MEMORY))


def noise_sd(values: NDArray, phi: NDArray | float) -> NDArray:
    """Standard deviation [...] of the noise in values [..., point] whose memory is φ [...].

    From the first differences, clipped as in `noise_memory`: Var(x_t − x_{t−1}) = 2 s² (1 − φ).
    Known: white noise of sd s with φ = 0 -> s.
    """
    differences = np.diff(np.asarray(values, dtype=np.float64), axis=-1)
    return np.asarray(np.sqrt(_power(differences) / (2 * (1 - np.asarray(phi)))))


def inflation(phi: NDArray | float) -> NDArray:
    """(1 + φ) / (1 − φ): by how much a memory of φ raises the variance of a mean of many points."""
    phi = np.asarray(phi, dtype=np.float64)
    return np.asarray((1 + phi) / (1 - phi))


def autoregressive_noise(
    innovations: NDArray, phi: float, sd: float, *, draws: int, points: int, rng: np.random.Generator
) -> NDArray:
    """Series [draw, point] of AR(1) noise with memory φ and standard deviation `sd`.

    Its shocks are drawn with replacement from `innovations` [any], so that what is heavy-tailed stays so.
    """
    shocks = rng.choice(innovations, (draws, points + WARM_UP))
    series = np.asarray(scipy.signal.lfilter([1.0], [1.0, -phi], shocks, axis=-1))[:, WARM_UP:]
    spread = np.std(innovations)
    scale = sd * np.sqrt(1 - phi**2) / spread if spread > 0 else 0.0
    return scale * series


def _power(differences: NDArray) -> NDArray:
    """Mean square over the last axis, what lies beyond CLIP robust sds clipped; plain where most are 0."""
    sizes = np.abs(differences)
    scale = MAD_TO_SD * np.median(sizes, axis=-1, keepdims=True)
    limit = np.where(scale > 0, CLIP * scale, np.inf)
    return np.asarray(np.mean(np.minimum(sizes, limit) ** 2, axis=-1))
