"""Whether points lie along one path, or along two that take turns."""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

#: Two paths explain a series if together they are so much shorter than one, in at least so many turns (and a
#: third of the points), each with at least so many points.
SHORTER, TURNS, MEMBERS = 0.5, 5, 4


def interleaved(distances: NDArray) -> int:
    """How often two trajectories take turns in a series [n n]; 0 if one trajectory explains it as well.

    The points, in order, are divided into two chains so that the sum of the distances between successive
    points of a chain is least (exactly, by dynamic programming).
    Known: a, b, a, b, … from two distant points gives n - 1; one smooth path gives 0.
    Misleads: two runs that lie nearer to each other than their own steps are long are not told apart.
    """
    count = len(distances)
    if count < 2 * MEMBERS or not np.isfinite(distances).all():
        return 0
    one = float(np.diagonal(distances, 1).sum())
    two, chains = _two_chains(distances)
    members = min(chains.count(0), chains.count(1))
    turns = sum(a != b for a, b in pairwise(chains))
    return turns if members >= MEMBERS and turns >= max(TURNS, count / 3) and two < SHORTER * one else 0


def _two_chains(distances: NDArray) -> tuple[float, list[int]]:
    """The least total length of two chains that take all points in order, and the chain of each point."""
    # cost[j]: best length when the chain not holding the last point ends in j (-1: it is empty so far).
    cost: dict[int, float] = {-1: 0.0}
    back: list[dict[int, tuple[int, bool]]] = []
    for point in range(1, len(distances)):
        moved: dict[int, float] = {}
        origin: dict[int, tuple[int, bool]] = {}
        for other, length in cost.items():
            stay = length + distances[point - 1, point]
            switch = length + (distances[other, point] if other >= 0 else 0.0)
            for end, total, switched in ((other, stay, False), (point - 1, switch, True)):
                if total < moved.get(end, np.inf):
                    moved[end], origin[end] = total, (other, switched)
        cost = moved
        back.append(origin)
    end = min(cost, key=lambda key: cost[key])
    best, chain, chains = cost[end], 0, [0]
    for origin in reversed(back):
        end, switched = origin[end]
        chain ^= switched
        chains.append(int(chain))
    return best, chains[::-1]
