"""The axis of steps: gaps in a regular grid, points that the siblings have, jumps of the counter."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ontogeny.audit.finding import Finding, listed

#: So many equal intervals (or ratios) in a row are a grid.
REGULAR = 3
#: At the end of a series a gap of more intervals than this is no gap but the end of the grid.
WIDEST_LAST = 3
#: A sibling's grid may have this much more points than ours and still be ours with points missing.
MISSING_SHARE = 0.2


def axis_findings(steps_of: Mapping[str, Sequence[int]]) -> Iterator[Finding]:
    """Missing points and jumps in the steps of each series; siblings are the other series."""
    for name, given in steps_of.items():
        steps = sorted(set(given))
        own = set(missing_points(steps))
        others = {other: sorted(set(found)) for other, found in steps_of.items() if other != name}
        shared = {step: sibling for sibling, found in others.items() for step in _lacking(steps, found)}
        missing = sorted(own | set(shared))
        if missing:
            siblings = sorted(set(shared.values()))
            why = "the grid of the series itself" if own else ""
            also = f"the grid of {listed(siblings, 2)}" if siblings else ""
            yield Finding(
                "missing-points",
                name,
                f"without {listed(missing)}, which {' and '.join(filter(None, (why, also)))} would have",
                steps=tuple(missing),
                numbers={"missing": len(missing), "present": len(steps), "siblings": len(siblings)},
            )
        for before, after, ratio in jumps(steps):
            yield Finding(
                "step-jump",
                name,
                f"from {before} to {after}, where the steps before and after are regular; "
                f"the interval changes by {ratio:g} there",
                steps=(before, after),
                numbers={"ratio": ratio},
            )


def missing_points(steps: Sequence[int]) -> list[int]:
    """The points that a regular grid has and the series lacks.

    Where at least three equal intervals lie on one side of a wider one, and the wider one is a whole multiple
    of them, and the grid goes on with the same interval on its other side (or ends there), the points in
    between are missing. Grids of equal ratios (1, 2, 4, …) are read alike.
    Known: 0, 10, 20, 30, 50, 60 lacks 40. Misleads: nobody need have wanted a regular grid.
    """
    gaps = np.diff(steps)
    found = []
    for index, gap in enumerate(gaps):
        left, right = _interval(gaps[:index][::-1]), _interval(gaps[index + 1 :])
        unit = left or right
        rest = gaps[index + 1 :] if left else gaps[:index]
        near = rest[:1] if left else rest[-1:]
        if unit and gap > unit and gap % unit == 0 and (not near.size or near[0] % unit == 0):
            goes_on = (rest == unit).any() if near.size else gap <= WIDEST_LAST * unit
            found += list(range(steps[index] + int(unit), steps[index + 1], int(unit))) if goes_on else []
    return found + _missing_ratios(steps)


def _missing_ratios(steps: Sequence[int]) -> list[int]:
    positive = np.array([step for step in steps if step > 0], dtype=np.float64)
    ratios = np.round(positive[1:] / positive[:-1], 6)
    found = []
    for index, ratio in enumerate(ratios):
        unit = _interval(ratios[:index][::-1])
        if not unit or unit <= 1.2 or ratio <= unit or index + 1 >= len(ratios) or ratios[index + 1] != unit:
            continue
        count = np.log(ratio) / np.log(unit)
        if abs(count - round(count)) < 1e-6:
            found += [round(positive[index] * unit**power) for power in range(1, round(count))]
    return found


def _interval(gaps: np.ndarray) -> float | int | None:
    """The interval that the nearest gaps have in common, if there are enough of them."""
    near = gaps[:REGULAR]
    return near[0].item() if len(near) == REGULAR and (near == near[0]).all() else None


def jumps(steps: Sequence[int]) -> Iterator[tuple[int, int, float]]:
    """Last step before, first step after, and the ratio of the intervals, wherever a counter leaps.

    A leap is a gap wider than twice the interval on either side, with three equal intervals before it and
    three after it that are not the same: a counter restarted in other units.
    """
    gaps = np.diff(steps)
    for index, gap in enumerate(gaps):
        before, after = _interval(gaps[:index][::-1]), _interval(gaps[index + 1 :])
        if before and after and before != after and gap > 2 * max(before, after):
            yield steps[index], steps[index + 1], after / before


def _lacking(steps: Sequence[int], sibling: Sequence[int]) -> list[int]:
    """Points inside our range that a sibling's grid has, if ours is that grid, in any unit, less a few."""
    mine, theirs = np.array(steps, dtype=np.float64), np.array(sibling, dtype=np.float64)
    if len(mine) < REGULAR or len(theirs) <= len(mine) or theirs[-1] <= 0 or mine[-1] <= 0:
        return []
    for scale in dict.fromkeys((1.0, mine[-1] / theirs[-1], mine[0] / theirs[0] if theirs[0] else 1.0)):
        grid = np.round(theirs * scale, 6)
        grid = grid[(grid >= mine[0]) & (grid <= mine[-1])]
        absent = np.setdiff1d(grid, mine)
        whole = np.isin(mine, grid).all() and (absent == np.round(absent)).all()
        if len(grid) <= len(mine):
            continue
        alike = np.median(np.diff(mine)) == np.median(np.diff(grid))
        if whole and len(absent) and (alike or len(absent) <= MISSING_SHARE * len(grid)):
            return [int(step) for step in absent]
    return []
