"""Evaluation results against the trajectory of their own series: outliers, misplaced points, two runs."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ontogeny.audit.agreement import Results
from ontogeny.audit.finding import Finding, listed
from ontogeny.audit.order import interleaved
from ontogeny.bridges import Evaluation

#: One number is far outside its neighbours from so many standard errors on.
FAR = 6.0
#: All numbers together are from this root mean square on.
FAR_TOGETHER = 2.0
#: A metric is erratic if a tenth of its points, and three, lie so many standard errors outside.
ERRATIC = 3.0
#: A point belongs elsewhere if it is so many times nearer to a far point than to both of its neighbours.
NEARER = 4.0
#: Mean squared difference, in units of its variance, from which two points differ at all.
DIFFERENT = 2.0
#: One number weighs at most so much in that mean.
MOST = 50.0


def profile_findings(name: str, members: Sequence[Evaluation]) -> Iterator[Finding]:
    """Points whose results leave the trajectory, in units of the reported standard errors.

    A monotone or level trajectory has no outlier, however fast it rises. What a metric does at a tenth of
    its other points is usual for it: an outlier must exceed that. The first and last points are compared
    with the others only as a whole.
    Known: a smooth curve with noise of the reported size has no outlier; one point of another checkpoint is
    found. Misleads: neighbours share their items, so the reported errors are too wide for their differences
    and small slips go unseen; a true spike in training is an outlier too.
    """
    unique = list({one.step: one for one in members}.values())
    if len(unique) < 4:
        return
    results = Results([(name, one) for one in unique])
    steps = [one.step or 0 for one in unique]
    outside = excess(results.values, results.errors)
    yield from _erratic(name, results, outside)
    distances = _distances(results.values, results.errors)
    misplaced = _misplaced(distances)
    for index, (nearest, numbers) in misplaced.items():
        seen = f"step {steps[index]} has results like those of step {steps[nearest]}, not of its neighbours"
        yield Finding("misplaced-results", name, seen, (steps[index], steps[nearest]), numbers=numbers)
    for index in range(1, len(steps) - 1):
        if index not in misplaced:
            yield from _outlier(name, results, steps, _unusual(outside, index), index, distances)
    if turns := interleaved(distances):
        seen = f"two trajectories take turns {turns} times"
        yield Finding("interleaved-runs", name, seen, numbers={"turns": turns})


def excess(values: NDArray, errors: NDArray) -> NDArray[np.float64]:
    """How far each number lies outside the interval of its neighbours [checkpoint number].

    Over the root of the sum of the three variances; 0 inside, NaN at the ends and without errors.
    """
    before, here, after = values[:-2], values[1:-1], values[2:]
    high, low = np.maximum(before, after), np.minimum(before, after)
    outside = np.maximum(here - high, 0) - np.maximum(low - here, 0)
    scale = np.sqrt(errors[:-2] ** 2 + errors[1:-1] ** 2 + errors[2:] ** 2)
    found = np.full(values.shape, np.nan)
    np.divide(outside, scale, out=found[1:-1], where=scale > 0)
    return found


def _unusual(outside: NDArray, index: int) -> NDArray[np.float64]:
    """The excess of one point, in units of what is usual at the others where that is more than an error."""
    others = np.delete(outside[1:-1], index - 1, axis=0)
    known = np.where(np.isfinite(others), np.abs(others), 0.0)
    return outside[index] / np.maximum(1.0, np.quantile(known, 0.9, axis=0))


def _erratic(name: str, results: Results, outside: NDArray) -> Iterator[Finding]:
    jumps = (np.abs(np.nan_to_num(outside[1:-1])) > ERRATIC).sum(axis=0)
    found = [c for c in np.argsort(-jumps, kind="stable") if jumps[c] >= max(3, 0.1 * (len(outside) - 2))]
    if found:
        names = [f"{'.'.join(results.columns[c])} at {jumps[c]} points" for c in found]
        seen = f"{listed(names)} of {len(outside) - 2}: more than {ERRATIC:g} standard errors outside"
        tasks = tuple(dict.fromkeys(results.columns[c][0] for c in found))
        yield Finding("erratic-metric", name, seen, tasks=tasks, numbers={"points": int(jumps[found[0]])})


def _outlier(
    name: str, results: Results, steps: Sequence[int], row: NDArray, index: int, distances: NDArray
) -> Iterator[Finding]:
    known = row[np.isfinite(row)]
    far = [c for c in np.argsort(-np.abs(np.nan_to_num(row))) if abs(row[c]) > FAR]
    together = float(np.sqrt((known**2).mean())) if known.size else 0.0
    if together <= FAR_TOGETHER and not far:
        return
    worst = [f"{'.'.join(results.columns[c])} {row[c]:+.1f}" for c in far]
    own = np.nan_to_num(distances[index], nan=np.inf)
    own[index] = np.inf
    nearest = steps[int(own.argmin())]
    what = f"outside its neighbours by {listed(worst)} standard errors" if worst else "outside its neighbours"
    seen = f"step {steps[index]} lies {what}; all numbers together {together:.1f}; most like step {nearest}"
    numbers = {"together": together, "largest": float(np.abs(known).max()), "nearest": nearest}
    tasks = tuple(dict.fromkeys(results.columns[c][0] for c in far))
    yield Finding("outlier-results", name, seen, (steps[index],), tasks=tasks, numbers=numbers)


def _distances(values: NDArray, errors: NDArray) -> NDArray[np.float64]:
    """Mean over numbers of the squared difference over its variance [n n].

    The variance of a number is that of both errors and of its usual change between neighbours.
    """
    count = len(values)
    changes = np.abs(np.diff(values, axis=0))
    usual = np.quantile(np.where(np.isfinite(changes), changes, 0.0), 0.75, axis=0)
    found = np.zeros((count, count))
    for i in range(count):
        variance = errors[i] ** 2 + errors**2 + usual**2
        squares = (values[i] - values) ** 2
        terms = np.divide(squares, variance, out=np.full(squares.shape, np.nan), where=variance > 0)
        known = np.isfinite(terms)
        total = np.where(known, np.minimum(terms, MOST), 0).sum(axis=1)
        np.divide(total, known.sum(axis=1), out=found[i], where=known.any(axis=1))
        found[i, ~known.any(axis=1)] = np.nan
    np.fill_diagonal(found, 0)
    return found


def _misplaced(distances: NDArray) -> dict[int, tuple[int, dict[str, float]]]:
    """Points far from both neighbours and near to a point at least three places away; ends come last.

    The neighbours are the nearest points that are not misplaced themselves. The neighbours of the far point
    must be nearer than the own ones, too: two spikes that look alike are no exchange.
    """
    count = len(distances)
    found: dict[int, tuple[int, dict[str, float]]] = {}
    for i in [*range(1, count - 1), 0, count - 1]:
        before = [j for j in range(i - 1, -1, -1) if j not in found][:1]
        after = [j for j in range(i + 1, count) if j not in found][:1]
        near = min((distances[i, j] for j in before + after), default=np.nan)
        far = {j: distances[i, j] for j in range(count) if abs(i - j) >= 3 and np.isfinite(distances[i, j])}
        best = min(far, key=lambda j: far[j], default=None)
        if best is None or not near > max(DIFFERENT, NEARER * far[best]):
            continue
        around = [distances[i, j] for j in (best - 1, best + 1) if 0 <= j < count and j != i]
        if near > 2 * max(around):
            found[i] = (best, {"to_neighbours": float(near), "to_nearest": float(far[best])})
    return found
