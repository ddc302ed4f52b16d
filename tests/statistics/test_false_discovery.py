"""STA-02: against the table, statsmodels, and its own definition."""

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from ontogeny.errors import BadArgument
from ontogeny.statistics.false_discovery import false_discovery

P = (0.001, 0.008, 0.039, 0.041, 0.042, 0.06, 0.074, 0.205)
Q = (0.008, 0.032, 0.0672, 0.0672, 0.0672, 0.08, 0.0846, 0.205)


def test_the_table():
    found = false_discovery(P)
    assert found.q == pytest.approx(Q, abs=5e-5)
    assert (found.tested, found.left_out) == (8, 0)


@pytest.mark.parametrize(("ours", "theirs"), [("bh", "fdr_bh"), ("by", "fdr_by")])
def test_statsmodels_agrees_whatever_the_order_and_ties(ours, theirs):
    p = np.random.default_rng(0).uniform(size=40).round(1) ** 2
    assert false_discovery(p, method=ours).q == pytest.approx(multipletests(p, method=theirs)[1])


def test_nan_is_dropped_before_the_tests_are_counted():
    given = np.array([[P[0], np.nan, *P[1:4]], [*P[4:], np.nan]])
    found = false_discovery(given)
    assert (found.tested, found.left_out) == (8, 2)
    assert np.isnan(found.q[0, 1])
    assert found.q[~np.isnan(given)] == pytest.approx(Q, abs=5e-5)


def test_nothing_and_one():
    assert false_discovery([]).tested == 0
    assert false_discovery([np.nan]).left_out == 1
    assert false_discovery([0.03]).q == pytest.approx([0.03])
    assert false_discovery([1.0, 1.0]).q == pytest.approx([1, 1])


@pytest.mark.parametrize("p", [-0.1, 1.1, np.inf])
def test_what_is_no_p_is_refused(p):
    with pytest.raises(BadArgument, match="from 0 to 1"):
        false_discovery([0.5, p])
