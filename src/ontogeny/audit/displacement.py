"""Which checkpoints, or tensors of checkpoints, do not lie where the path of their series passes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

#: The detour from which all tensors together, or one tensor, are out of place. A random walk makes one of at
#: most 1.4, points that wander about one place one of 2. On clean trainings (26; SGD, momentum, AdamW;
#: constant, cosine, decay, restarts; even and logarithmic steps) the largest were 1.6 and 2.9.
DETOUR_TOGETHER, DETOUR_ALONE = 2.2, 3.5
#: How much larger a detour must be than the upper quarter of the others.
UNUSUAL = 1.5
#: So many checkpoints in a row may be out of place together.
LONGEST = 3
#: A point that was exchanged with another makes at most this detour in its own place.
FITS = 2.0
#: The first or last checkpoint is out of place if a far point is so much nearer than the next.
NEARER = 0.5
#: Correlation of entries below which tensors have nothing in common, and above which they surely have.
UNRELATED, RELATED = 0.2, 0.5


@dataclass(frozen=True)
class Fault:
    """Points of a path that do not belong where they are: a stretch, or two that were exchanged."""

    points: tuple[int, ...]
    detour: float
    gain: float
    exchanged: bool = False


def faults(distances: NDArray, correlations: NDArray, equal: NDArray, least: float) -> list[Fault]:
    """The points that the path of some tensors is better off without, or with two of them exchanged.

    distances, correlations [tensor point point]; equal [point point] says which are equal in all of them.
    Of equal points that are no neighbours, the one stays with which the path is shortest. Then, until there
    is none, whichever shortens the path most is taken out: a stretch of one to three points whose detour
    (d(a-1, a) + d(b, b+1)) / d(a-1, b+1) exceeds `least`, or two points that fit in each other's places. Last
    the two ends are compared with the rest. All numbers are medians over tensors.
    """
    found = [Fault((point,), np.inf, np.inf) for point in _copies(distances, equal)]
    left = [i for i in range(distances.shape[1]) if (i,) not in {one.points for one in found}]
    while len(left) > 3 and (worst := _worst(distances, left, least)):
        found.append(worst)
        left = [i for i in left if i not in worst.points]
    for end, inward in ((left[0], left[1:]), (left[-1], left[-2::-1])):
        if len(left) > 3 and _strange_end(distances, correlations, end, inward):
            found.append(Fault((end,), np.nan, np.nan))
    return found


def _copies(distances: NDArray, equal: NDArray) -> list[int]:
    """Points to leave out because they equal a far one that fits better."""
    count = distances.shape[1]
    found: list[int] = []
    for i in range(count):
        group = [i, *np.flatnonzero(equal[i, i + 1 :]) + i + 1]
        if len(group) < 2 or i in found or max(group) - i < len(group):
            continue
        rest = [k for k in range(count) if k not in group and k not in found]
        best = min(group, key=lambda one: _length(distances, sorted([*rest, one])))
        found += [one for one in group if abs(one - best) > 1 and one not in found]
    return found


def _length(distances: NDArray, points: Sequence[int]) -> float:
    return float(np.median(distances[:, points[:-1], points[1:]].sum(axis=1)))


def _worst(distances: NDArray, left: Sequence[int], least: float) -> Fault | None:
    """The fault that shortens the path most; an exchange only if some stretch is out of place at all."""
    inner = distances[:, left][:, :, left].astype(np.float64)
    steps = np.diagonal(inner, 1, axis1=1, axis2=2)
    inner /= np.maximum(np.median(steps, axis=1), np.finfo(float).tiny)[:, None, None]
    stretch = _worst_stretch(inner, least)
    if stretch is None:
        return None
    exchange = _best_exchange(inner)
    found = exchange if exchange and exchange.gain > stretch.gain else stretch
    return replace(found, points=tuple(left[i] for i in found.points))


def _worst_stretch(distances: NDArray, least: float) -> Fault | None:
    places, candidates = np.arange(distances.shape[1]), []
    for length in range(1, LONGEST + 1):
        before, after = places[: -length - 1], places[length + 1 :]
        if len(before) < 2:
            break
        way = distances[:, before, places[1:-length]] + distances[:, places[length:-1], after]
        straight = distances[:, before, after]
        ratios = np.divide(way, straight, out=np.full(way.shape, np.inf), where=straight > 0)
        detours = np.median(np.where(way > 0, ratios, 0.0), axis=0)
        gains = np.median(way - straight, axis=0)
        usual = np.quantile(detours, 0.75, method="lower")
        for start in np.flatnonzero((detours > least) & (detours > UNUSUAL * usual)).tolist():
            points = tuple(range(start + 1, start + 1 + length))
            candidates.append(Fault(points, float(detours[start]), float(gains[start])))
    return max(candidates, key=lambda one: one.gain, default=None)


def _best_exchange(distances: NDArray) -> Fault | None:
    """The two points, not side by side, whose exchange shortens the path most and that fit there."""
    count = distances.shape[1]
    way = np.zeros_like(distances)  # way[t, p, q]: from p's neighbours to q, were it in the place of p
    way[:, 1:] += distances[:, :-1]
    way[:, :-1] += distances[:, 1:]
    own = np.diagonal(way, axis1=1, axis2=2)
    gains = np.median(own[:, :, None] + own[:, None, :] - way - way.transpose(0, 2, 1), axis=0)
    straight = np.full(distances.shape[:2], np.inf)
    straight[:, 1:-1] = np.diagonal(distances, 2, axis1=1, axis2=2)
    fits = np.median(way, axis=0) <= FITS * np.median(straight, axis=0)[:, None]
    gains[~(fits & fits.T)] = -np.inf
    gains[np.abs(np.subtract.outer(range(count), range(count))) < 2] = -np.inf
    p, q = np.unravel_index(gains.argmax(), gains.shape)
    if not gains[p, q] > 0:
        return None
    points = (int(min(p, q)), int(max(p, q)))
    return Fault(points, float(np.median(own[:, p]) / np.median(way[:, p, q])), float(gains[p, q]), True)


def _strange_end(distances: NDArray, correlations: NDArray, end: int, inward: Sequence[int]) -> bool:
    """Whether an end is far nearer to a far point than to the next, or related to none of the rest."""
    to_rest = np.median(distances[:, end, inward], axis=0)
    if to_rest[1:].min() < NEARER * to_rest[0]:
        return True
    known = correlations[np.isfinite(correlations[:, end]).all(axis=1)]
    if not len(known):
        return False
    links = np.median(known[:, inward[:-1], inward[1:]])
    return bool(np.median(known[:, end, inward], axis=0).max() < UNRELATED and links > RELATED)
