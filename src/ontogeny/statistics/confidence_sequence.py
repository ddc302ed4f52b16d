"""Intervals that hold at every look, so that one may stop when one likes (STA-07)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from ontogeny.errors import BadArgument

#: The asymptotic sequence says nothing before this many values.
FIRST_LOOK = 30
#: No bet is larger.
LARGEST_BET = 0.5


@dataclass(frozen=True)
class ConfidenceSequence:
    """One entry a value seen, along the last axis: all limits together hold with chance 1 − alpha."""

    centre: NDArray
    low: NDArray
    high: NDArray


def asymptotic_sequence(
    values: NDArray, *, alpha: float = 0.05, optimal: int = 100, first: int = FIRST_LOOK
) -> ConfidenceSequence:
    """For the mean of values [..., look] of any size: μ̂ ± σ̂ √(2 (t ρ² + 1) / (t² ρ²) · ln(√(t ρ² + 1) / α)).

    ρ² = (−W₋₁(−α²/e) − 1) / t₀ makes it narrowest at `optimal` values. Limits are NaN before `first` values,
    and where all values so far are equal, of which nothing is known asymptotically.
    Known: α = 0.05, t₀ = 100 -> ρ = 0.2866; half-width / σ 0.3035 at 100, 0.1027 at 1000.
    Misleads: it holds in the limit only; skewed values seen 30 times are not there yet. For scores that are
    bounded use `bernstein_sequence`.
    Source: Waudby-Smith et al. 2103.06476 (recalled, checked by simulation).
    """
    values = _sequence(values)
    t = np.arange(1, values.shape[-1] + 1, dtype=np.float64)
    shifted = values - values[..., :1]
    mean = np.cumsum(shifted, -1) / t
    variance = np.maximum(np.cumsum(np.square(shifted), -1) / t - np.square(mean), 0.0)
    same = np.maximum.accumulate(values, -1) == np.minimum.accumulate(values, -1)
    rho2 = float((-special.lambertw(-(alpha**2) / np.e, -1).real - 1) / optimal)
    grown = t * rho2 + 1
    half = np.sqrt(variance * 2 * grown / (t**2 * rho2) * np.log(np.sqrt(grown) / alpha))
    half = np.where(same | (t < first), np.nan, half)
    centre = values[..., :1] + mean
    return ConfidenceSequence(centre, centre - half, centre + half)


def bernstein_sequence(
    values: NDArray, *, alpha: float = 0.05, population: int | None = None
) -> ConfidenceSequence:
    """For the mean of values [..., look] in [0, 1], whatever their distribution, from the first value on.

    Empirical Bernstein with a predictable mixture: centre Σ λᵢ xᵢ / Σ λᵢ, margin
    (ln(2/α) + Σ (xᵢ − μ̂ᵢ₋₁)² ψ(λᵢ)) / Σ λᵢ, ψ(λ) = −ln(1 − λ) − λ,
    λᵢ = min(½, √(2 ln(2/α) / (σ̂²ᵢ₋₁ i ln(1 + i)))), μ̂ and σ̂² with one pseudo-observation (½, ¼).
    `population` says that the values were drawn in random order without replacement from so many: the mean
    is then theirs. Limits are cut to [0, 1] and to what the values seen leave possible.
    BadArgument for values outside [0, 1] or more of them than the population has.
    Known: α = 0.05 and a constant 1 -> low 0.8968 after 73 values; all of a population -> its mean.
    Misleads: values must come in random order; items sorted by difficulty break every promise.
    Source: Waudby-Smith & Ramdas 2010.09686 (checked with confseq).
    """
    values = _sequence(values)
    if values.size and not (values.min() >= 0 and values.max() <= 1):
        raise BadArgument("a bounded score lies from 0 to 1", received=f"{values.min()} … {values.max()}")
    looks = values.shape[-1]
    if population is not None and looks > population:
        raise BadArgument("more values than the population has", received=looks, allowed=str(population))
    t = np.arange(1, looks + 1, dtype=np.float64)
    total = np.cumsum(values, -1)
    mean = (0.5 + total) / (t + 1)
    variance = (0.25 + np.cumsum(np.square(values - mean), -1)) / (t + 1)
    before, spread = _before(mean, 0.5), _before(variance, 0.25)
    bet = np.minimum(LARGEST_BET, np.sqrt(2 * np.log(2 / alpha) / (spread * t * np.log1p(t))))
    cost = np.log(2 / alpha) + np.cumsum(np.square(values - before) * (-np.log1p(-bet) - bet), -1)
    if population is None:
        weight, seen = np.cumsum(bet, -1), np.cumsum(bet * values, -1)
        least, most = 0.0, 1.0
    else:
        left = population - t + 1
        weight = np.cumsum(bet * population / left, -1)
        seen = np.cumsum(bet * (values + _before(total, 0.0) / left), -1)
        least, most = total / population, (total + population - t) / population
    centre = np.clip(seen / weight, least, most)
    low = np.maximum((seen - cost) / weight, least)
    return ConfidenceSequence(centre, low, np.minimum((seen + cost) / weight, most))


def _sequence(values: NDArray) -> NDArray:
    values = np.asarray(values, dtype=np.float64)
    bad = np.count_nonzero(~np.isfinite(values))
    if bad or values.ndim == 0:
        raise BadArgument(
            "a sequence is of finite values",
            received=f"{bad} of {values.size} are not" if values.ndim else "one number",
            allowed="[..., look]",
            remedy="leave out what was not scored, and say so beside the result",
        )
    return values


def _before(values: NDArray, first: float) -> NDArray:
    """What was known before each value [..., look]."""
    return np.concatenate([np.full_like(values[..., :1], first), values[..., :-1]], -1)
