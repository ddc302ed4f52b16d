"""The best order of attention heads, of query heads within groups, and of features within heads."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ontogeny.numerics.assignment import assignment, total_gain

#: Rounds of heads and features in turn, within one group.
MOST_ROUNDS = 100


def head_orders(
    gains: list[NDArray[np.float64]], groups: int, heads: int, *, value_output: bool, query_key: bool
) -> list[NDArray[np.int64]]:
    """Orders of query, key, value and mixed features that keep heads whole and groups together.

    `gains` are of these four, in this order, [feature feature] each: what a feature of the other side would
    add in each place. A group is one key head with the query heads it serves. Every pair of groups is
    matched inside, then groups are assigned by what that gains. Features within a head keep their order
    unless `value_output` or `query_key` frees them.
    Known: exact with one query head a group, and where only heads move.
    Misleads: with both query heads and features free, heads and features are matched in turn from the order
    given, and a better one may be missed.
    """
    each, size = heads // groups, gains[0].shape[0] // heads
    query, mixed = (gains[i].reshape(groups, each, size, groups, each, size) for i in (0, 3))
    key, value = (gains[i].reshape(groups, size, groups, size) for i in (1, 2))
    free = (value_output, query_key)
    inside = [
        [
            _group_match(query[a, :, :, b], key[a, :, b], value[a, :, b], mixed[a, :, :, b], free)
            for b in range(groups)
        ]
        for a in range(groups)
    ]
    order = assignment(np.array([[match.gain for match in row] for row in inside]))
    found: list[list[NDArray[np.int64]]] = [[], [], [], []]
    for a, b in enumerate(order.tolist()):
        match = inside[a][b]
        head = (b * each + match.heads)[:, None] * size
        found[0].append((head + match.query_key).ravel())
        found[1].append(b * size + match.query_key)
        found[2].append(b * size + match.value_output)
        found[3].append((head + match.value_output).ravel())
    return [np.concatenate(parts) for parts in found]


class _GroupMatch(NamedTuple):
    gain: float
    heads: NDArray[np.int64]
    query_key: NDArray[np.int64]
    value_output: NDArray[np.int64]


def _group_match(
    query: NDArray, key: NDArray, value: NDArray, mixed: NDArray, free: tuple[bool, bool]
) -> _GroupMatch:
    """The best order found of one group's query heads and features.

    Gains are [head feature head feature] of queries and mixed values, [feature feature] of keys and values.
    """
    each, size = query.shape[:2]
    heads, query_key, value_output = np.arange(each), np.arange(size), np.arange(size)
    gain, rows = -np.inf, np.arange(size)
    for _ in range(MOST_ROUNDS):
        heads = assignment(query[:, rows, :, query_key].sum(0) + mixed[:, rows, :, value_output].sum(0))
        by_query = key + query[np.arange(each), :, heads].sum(0)
        by_value = value + mixed[np.arange(each), :, heads].sum(0)
        if free[1]:
            query_key = assignment(by_query)
        if free[0]:
            value_output = assignment(by_value)
        reached = total_gain(by_query, query_key) + total_gain(by_value, value_output)
        if reached <= gain:
            break
        gain = reached
    return _GroupMatch(gain, heads, query_key, value_output)
