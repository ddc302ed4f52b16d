"""Rises from one level to another as a bank of logistic curves in ln step."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy.special
from numpy.typing import NDArray

from ontogeny.statistics.crossing import log_position
from ontogeny.statistics.posterior import shape_weights

#: Widths (ln step from 10 to 90 %) of a bank: a jump, and others from the narrowest to the whole span.
WIDTHS, FINE_WIDTHS, JUMP, NARROWEST = 8, 14, 1e-4, 0.01
#: Centres a gap of the fine bank, and the weight of a jump beside all other widths together.
FINE_CENTRES, OF_A_JUMP = 9, 0.9
#: Places within its cell that a jump is spread over.
SPREAD = 7
#: Most centres of the fine bank, but for one a gap.
MOST_CENTRES = 600


@dataclass(frozen=True)
class Sigmoids:
    """Curves [curve, point] from 0 to 1 with their centres [curve] and widths [curve] in ln step.

    `cells` [curve] is how far apart centres lie there, in ln step; `units` [point, curve] are the curves
    centred and of length 1.
    """

    curves: NDArray
    centres: NDArray
    widths: NDArray
    units: NDArray
    cells: NDArray

    def shares(self, values: NDArray) -> NDArray:
        """How much of each curve there is in values [series, point]: [series, curve]."""
        return (values - values.mean(axis=1, keepdims=True)) @ self.units


def sigmoids_over(steps: NDArray) -> Sigmoids:
    """A bank with a centre in the middle of every gap between steps [point]."""
    return _bank(np.ascontiguousarray(steps, dtype=np.float64).tobytes(), 1, WIDTHS)


def fine_sigmoids_over(steps: NDArray) -> Sigmoids:
    """A bank with up to nine centres in every gap (fewer in a long series), for intervals."""
    centres = max(1, min(FINE_CENTRES, MOST_CENTRES // len(steps)))
    return _bank(np.ascontiguousarray(steps, dtype=np.float64).tobytes(), centres, FINE_WIDTHS)


@lru_cache(maxsize=8)
def _bank(steps_as_bytes: bytes, centres_a_gap: int, count: int) -> Sigmoids:
    positions = log_position(np.frombuffer(steps_as_bytes))
    within = (np.arange(centres_a_gap) + 0.5) / centres_a_gap
    centres = (positions[:-1, None] + np.diff(positions)[:, None] * within).ravel()
    widths = np.r_[JUMP, np.geomspace(NARROWEST, positions[-1] - positions[0], count - 1)]
    every_centre, every_width = (part.ravel() for part in np.meshgrid(centres, widths, indexing="ij"))
    off = (positions - every_centre[:, None]) / every_width[:, None]
    curves = scipy.special.expit(np.log(81) * off)
    units = curves - curves.mean(axis=1, keepdims=True)
    units /= np.maximum(np.linalg.norm(units, axis=1, keepdims=True), 1e-12)
    cells = np.repeat(np.diff(positions) / centres_a_gap, centres_a_gap * count)
    return Sigmoids(curves, every_centre, every_width, np.ascontiguousarray(units.T), cells)


def crossings(steps: NDArray, values: NDArray, phi: float, target: float | None) -> tuple[NDArray, NDArray]:
    """Positions [n] in ln step where the sigmoids of a fine bank pass `target`, and weights [n].

    Each curve is laid through values [point] by least squares; without a target it is passed at its half.
    Curves that never pass the target upwards weigh nothing; if none does, the weights are all 0. A jump is
    spread over its cell, for anywhere within it is alike.
    """
    bank = fine_sigmoids_over(steps)
    weights, sizes = shape_weights(bank.curves, np.ones((1, values.size)), values, phi)
    jumps = bank.widths == JUMP
    weights = weights * np.where(jumps, OF_A_JUMP, (1 - OF_A_JUMP) / (FINE_WIDTHS - 1))
    if target is None:
        positions = bank.centres
    else:
        bases = values.mean() - sizes * bank.curves.mean(axis=1)
        share = np.divide(target - bases, sizes, out=np.full_like(sizes, -1.0), where=sizes > 0)
        passing = (share > 0) & (share < 1)
        inside = np.where(passing, share, 0.5)
        positions = bank.centres + bank.widths * scipy.special.logit(inside) / np.log(81)
        weights = np.where(passing, weights, 0.0)
    spread = positions[jumps, None] + bank.cells[jumps, None] * ((np.arange(SPREAD) + 0.5) / SPREAD - 0.5)
    again = np.repeat(weights[jumps] / SPREAD, SPREAD)
    return np.r_[positions[~jumps], spread.ravel()], np.r_[weights[~jumps], again]
