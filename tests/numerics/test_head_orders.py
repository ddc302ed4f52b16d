"""Heads and features within them, held against every order that keeps heads whole."""

from itertools import permutations, product

import numpy as np
import pytest

from ontogeny.numerics.assignment import total_gain
from ontogeny.numerics.head_orders import head_orders


def gains_of(sizes: tuple[int, ...], seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(size, size)) for size in sizes]


def whole(gains, orders) -> float:
    return sum(total_gain(table, np.asarray(order)) for table, order in zip(gains, orders, strict=True))


@pytest.mark.parametrize("seed", range(5))
def test_no_order_of_whole_heads_gains_more(seed):
    gains = gains_of((6, 6, 6, 6), seed)
    found = head_orders(gains, 3, 3, value_output=False, query_key=False)
    best = -np.inf
    for heads in permutations(range(3)):
        order = [head * 2 + feature for head in heads for feature in range(2)]
        best = max(best, whole(gains, [order] * 4))
    assert whole(gains, found) == pytest.approx(best)


@pytest.mark.parametrize("seed", range(5))
def test_no_order_of_heads_and_features_gains_more(seed):
    gains = gains_of((4, 4, 4, 4), seed)
    found = head_orders(gains, 2, 2, value_output=True, query_key=True)
    best = -np.inf
    inner = list(permutations(range(2)))
    for heads in permutations(range(2)):
        for turned, carried in product(product(inner, repeat=2), repeat=2):
            by_query = [head * 2 + i for head, order in zip(heads, turned, strict=True) for i in order]
            by_value = [head * 2 + i for head, order in zip(heads, carried, strict=True) for i in order]
            best = max(best, whole(gains, [by_query, by_query, by_value, by_value]))
    assert whole(gains, found) == pytest.approx(best)


@pytest.mark.parametrize("seed", range(5))
def test_no_order_of_groups_and_their_heads_gains_more(seed):
    gains = gains_of((8, 4, 4, 8), seed)
    found = head_orders(gains, 2, 4, value_output=False, query_key=False)
    best = -np.inf
    for groups in permutations(range(2)):
        for heads in product(permutations(range(2)), repeat=2):
            outer = [group * 2 + i for group in groups for i in range(2)]
            query = [
                (group * 2 + head) * 2 + i
                for group, order in zip(groups, heads, strict=True)
                for head in order
                for i in range(2)
            ]
            best = max(best, whole(gains, [query, outer, outer, query]))
    assert whole(gains, found) == pytest.approx(best)
