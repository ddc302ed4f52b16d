import numpy as np
import pytest

from ontogeny.statistics.partition import binary_partition, optimal_partition, price_of_change, segment_ends

ruptures = pytest.importorskip("ruptures")


def series(count=20, points=60):
    rng = np.random.default_rng(0)
    found = rng.normal(size=(count, points))
    for row in found[5:]:
        for at in rng.integers(3, points - 3, rng.integers(1, 4)):
            row[at:] += rng.normal(0, 4)
    return found


@pytest.mark.parametrize("penalty", [4.0, 12.0])
def test_the_optimum_is_the_one_ruptures_finds(penalty):
    values = series()
    ours = optimal_partition(values, np.full(len(values), penalty), 3)
    for row, changes in zip(values, ours, strict=True):
        theirs = ruptures.Pelt(model="l2", min_size=3, jump=1).fit(row).predict(pen=penalty)
        cost = ruptures.costs.CostL2().fit(row)
        mine = [*np.flatnonzero(changes).tolist(), row.size]
        priced = [cost.sum_of_costs(ends) + penalty * (len(ends) - 1) for ends in (mine, theirs)]
        assert priced[0] == pytest.approx(priced[1], rel=1e-9)
        assert mine == theirs


def test_splitting_is_the_one_of_ruptures():
    values = series()
    ours = binary_partition(values, np.full(len(values), 12.0), 3)
    for row, changes in zip(values, ours, strict=True):
        theirs = ruptures.Binseg(model="l2", min_size=3, jump=1).fit(row).predict(pen=12.0)
        assert [*np.flatnonzero(changes).tolist(), row.size] == theirs


def test_many_series_at_once_are_each_by_itself():
    values, penalty = series(), np.linspace(1, 20, 20)
    for partition in (optimal_partition, binary_partition):
        whole = partition(values, penalty, 3)
        single = [partition(row[None], price[None], 3)[0] for row, price in zip(values, penalty, strict=True)]
        np.testing.assert_array_equal(whole, single)


def test_the_price_is_that_of_the_noise_and_never_nothing():
    white = np.random.default_rng(1).normal(0, 2, (200, 120))
    assert np.median(price_of_change(white, 3.0, memory=False)) == pytest.approx(12 * np.log(120), rel=0.1)
    assert (price_of_change(white, 3.0, memory=True) >= price_of_change(white, 3.0, memory=False)).all()
    stepped = np.repeat([[0.0, 1.0]], 10, axis=1).reshape(1, -1)
    assert price_of_change(np.sort(stepped), 3.0, memory=False)[0] > 0


def test_ends_of_segments():
    changes = np.array([[False, False, True, False, True, False]])
    left, right = segment_ends(changes)
    assert (left[0, 2], right[0, 2]) == (0, 4)
    assert (left[0, 4], right[0, 4]) == (2, 6)
    assert (left[0, 3], right[0, 3]) == (2, 4)
