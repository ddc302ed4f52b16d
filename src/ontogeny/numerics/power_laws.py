"""Power laws of a spectrum: the exponent of its density's tail, and the slope of its values over rank."""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from ontogeny.numerics.spectra import RELATIVE_ZERO, checked_spectrum
from ontogeny.vocabulary import Reading, Status, undefined

#: Below this many eigenvalues no tail is fitted; below the second the estimator is corrected for its bias.
FEWEST_VALUES, FEW_VALUES = 8, 20
#: What a shorter tail is let off in the choice of λ_min, where there are few values: D − 0.868 / √n.
SHORT_TAIL = 0.868
#: A tail of fewer values, or further from its fit, is called no power law (the rule is ours).
FEWEST_IN_TAIL, FARTHEST = 20, 0.1
#: Logarithms closer together than this are ties.
TIE = 1e-12
#: How many entries of the table (candidate, value) are held at once: what a cache holds.
TABLE = 1 << 16
#: Ranks that the slope is fitted over, and how many points it needs.
FIRST_RANK, LAST_RANK, LEFT_OUT, FEWEST_POINTS = 11, 100, 10, 20


class Tail(NamedTuple):
    """A fitted tail: exponent α and its σ, the Kolmogorov–Smirnov distance, where it starts, its size."""

    alpha: float
    sigma: float
    distance: float
    start: float
    size: int
    values: int
    largest: float

    @property
    def not_power_law(self) -> bool:
        """Fewer than 20 values in the tail, or further than 0.1 from the fit."""
        return self.size < FEWEST_IN_TAIL or self.distance > FARTHEST

    @property
    def alpha_hat(self) -> float:
        """α weighted by scale: α log10 λ_max."""
        return self.alpha * math.log10(self.largest)


class Slope(NamedTuple):
    """Minus the slope of log λ over log rank, R² on the ranks used, and how many they are."""

    slope: float
    r_squared: float
    points: int


def tail_exponent(eigenvalues: Tensor | Reading) -> Tail | Reading:
    """The exponent of p(λ) ∝ λ^−α above the λ_min that fits best (Clauset's method; WeightWatcher's α).

    For every value but the largest as λ_min: α = 1 + n / Σ log(λ_i / λ_min) over the n values from it up,
    and D, the largest gap to the empirical distribution (0, 1/n, …); the least D decides; σ = (α − 1) / √n.
    With fewer than 20 values α takes n − 1, the tail holds at least 8, and D − 0.868 / √n decides. Values
    below 1e-12 of the largest are dropped. All candidates are tried at once, in slices of a fixed size.
    Status: `n-too-small` below 8 values, `constant-input` where all are equal; `nonfinite`, `zero-weight`.
    Known: 2,000 draws of a Pareto law with α = 3 -> 3.05 ± 0.045.
    Misleads: any sample has a best tail; where `not_power_law` holds, α is unstable and means nothing.
    """
    values = checked_spectrum(eigenvalues)
    if isinstance(values, Reading):
        return values
    largest = float(eigenvalues.max()) if isinstance(eigenvalues, Tensor) else 1.0
    logs = values[values > RELATIVE_ZERO].log().sort().values
    total = len(logs)
    if total < FEWEST_VALUES:
        return undefined(
            Status.N_TOO_SMALL, f"{total} eigenvalues above 0; {FEWEST_VALUES} are needed", n=total
        )
    counts, alphas, distances = _candidates(logs)
    allowance = SHORT_TAIL / counts.sqrt() if total < FEW_VALUES else 0.0
    best = int((distances - allowance).argmin())
    if not bool(distances[best].isfinite()):
        return undefined(Status.CONSTANT_INPUT, f"all {total} eigenvalues are equal", n=total)
    alpha, count = float(alphas[best]), int(counts[best])
    return Tail(
        alpha=alpha,
        sigma=(alpha - 1) / math.sqrt(count),
        distance=float(distances[best]),
        start=math.exp(float(logs[best])) * largest,
        size=count,
        values=total,
        largest=largest,
    )


def _candidates(logs: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Of the tail above every value but the largest: its size, exponent and distance; ∞ where it has none."""
    total = len(logs)
    few = total < FEW_VALUES
    counts = total - torch.arange(total - 1, dtype=torch.float64, device=logs.device)
    excess = logs.flip(0).cumsum(0).flip(0)[:-1] - counts * logs[:-1]
    usable = (excess > TIE * counts) & (counts >= (FEWEST_VALUES if few else 2))
    alphas = 1 + (counts - int(few)) / excess.where(usable, torch.nan)
    return counts, alphas, _distances(logs, alphas, counts).where(usable, torch.inf)


def _distances(logs: Tensor, alphas: Tensor, counts: Tensor) -> Tensor:
    """The Kolmogorov–Smirnov distance of every candidate's tail from its fit [candidate]."""
    total = len(logs)
    rank = torch.arange(total, dtype=torch.float64, device=logs.device)
    found, height = [], max(1, TABLE // total)
    for first in range(0, total - 1, height):
        here = slice(first, min(first + height, total - 1))
        above = logs[first:] - logs[here, None]
        fitted = 1 - ((1 - alphas[here, None]) * above).exp()
        seen = (rank[first:] - rank[here, None]) / counts[here, None]
        found.append((fitted - seen).abs().where(seen >= 0, 0).amax(1))
    return torch.cat(found)


def rank_slope(eigenvalues: Tensor | Reading) -> Slope | Reading:
    """α-ReQ: weighted least squares of log λ_i on −log i with weights 1 / i, over ranks i = 11 … 100.

    With d < 110 eigenvalues the ranks are 11 … d − 10. R² is the plain one on the same ranks.
    Status: `n-too-small` with fewer than 20 points (d < 40), `rank-deficient` where an eigenvalue among them
    is 0, `nonfinite`, `zero-weight`.
    Known: λ_i = i^−1.5 -> 1.5 and R² 1; a white Gaussian 1000 × 1024 -> 0.15.
    Misleads: a slope is fitted to any spectrum; R² says whether it is straight, and it stays high on bends.
    """
    values = checked_spectrum(eigenvalues)
    if isinstance(values, Reading):
        return values
    last = min(LAST_RANK, len(values) - LEFT_OUT)
    points = last - FIRST_RANK + 1
    if points < FEWEST_POINTS:
        least = FIRST_RANK - 1 + FEWEST_POINTS + LEFT_OUT
        return undefined(
            Status.N_TOO_SMALL, f"{len(values)} eigenvalues; {least} are needed", n=max(points, 0)
        )
    chosen = values.sort(descending=True).values[FIRST_RANK - 1 : last]
    zeros = int((chosen <= RELATIVE_ZERO).sum())
    if zeros:
        reason = f"{zeros} of the eigenvalues of ranks {FIRST_RANK} … {last} are 0"
        return undefined(Status.RANK_DEFICIENT, reason, n=points)
    ranks = torch.arange(FIRST_RANK, last + 1, dtype=torch.float64, device=chosen.device)
    x, y, weights = -ranks.log(), chosen.log(), 1 / ranks / (1 / ranks).sum()
    x_mean, y_mean = weights @ x, weights @ y
    slope = (weights @ ((x - x_mean) * (y - y_mean))) / (weights @ (x - x_mean).square())
    left = y - y_mean - slope * (x - x_mean)
    spread = (y - y.mean()).square().sum()
    # Equal eigenvalues are a slope of 0 that explains everything there is.
    unexplained = left.square().sum() / spread if spread > points * TIE**2 else spread.new_zeros(())
    return Slope(float(slope), float(1 - unexplained), points)
