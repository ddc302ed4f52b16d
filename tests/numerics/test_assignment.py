"""The assignment problem, held against every order there is."""

from itertools import permutations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ontogeny.numerics.assignment import assignment, total_gain


@given(st.integers(1, 6), st.integers(0, 2**31))
def test_no_order_gains_more(size, seed):
    gains = np.random.default_rng(seed).normal(size=(size, size))
    order = assignment(gains)
    assert sorted(order.tolist()) == list(range(size))
    best = max(total_gain(gains, np.array(other)) for other in permutations(range(size)))
    assert np.isclose(total_gain(gains, order), best, rtol=1e-12, atol=1e-12)


def test_a_permutation_matrix_is_its_permutation():
    assert assignment(np.eye(4)[[2, 0, 3, 1]]).tolist() == [2, 0, 3, 1]
