"""Faults of paths whose truth is known: a straight walk, a random one, points about one place."""

import numpy as np
import pytest

from ontogeny.audit.displacement import DETOUR_TOGETHER, faults

COUNT = 16


def _tables(walks):
    """Distances, correlations and equalities of walks [tensor point entry]."""
    distances = np.sqrt(((walks[:, :, None] - walks[:, None]) ** 2).mean(axis=3))
    correlations = np.stack([np.corrcoef(walk) for walk in walks])
    return distances, correlations, (distances == 0).all(axis=0)


def _walks(seed, kind):
    rng = np.random.default_rng(seed)
    start, noise = rng.normal(size=(3, 1, 400)), rng.normal(size=(3, COUNT, 400))
    if kind == "straight":
        return start + 0.05 * np.arange(COUNT)[None, :, None] * rng.normal(size=(3, 1, 400))
    return start + (0.1 * noise.cumsum(axis=1) if kind == "random" else 0.2 * noise)


def _points(walks):
    return sorted(point for one in faults(*_tables(walks), DETOUR_TOGETHER) for point in one.points)


@pytest.mark.parametrize("kind", ["straight", "random", "about one place"])
@pytest.mark.parametrize("seed", range(5))
def test_true_paths_have_no_fault(kind, seed):
    assert _points(_walks(seed, kind)) == []


@pytest.mark.parametrize("kind", ["straight", "random"])
@pytest.mark.parametrize("point", [1, 7, COUNT - 2])
def test_a_point_of_another_start_is_taken_out(kind, point):
    walks = _walks(0, kind)
    walks[:, point] = _walks(1, kind)[:, point]
    assert _points(walks) == [point]


@pytest.mark.parametrize("end", [0, COUNT - 1])
def test_an_end_of_another_start_is_found(end):
    walks = _walks(0, "random")
    walks[:, end] = _walks(1, "random")[:, end]
    assert _points(walks) == [end]


def test_two_foreign_points_side_by_side_are_found():
    walks = _walks(0, "random")
    walks[:, 7:9] = _walks(1, "random")[:, 7:9]
    assert _points(walks) == [7, 8]


def test_an_exchange_is_one_fault():
    walks = _walks(0, "straight")
    walks[:, [3, 10]] = walks[:, [10, 3]]
    (one,) = faults(*_tables(walks), DETOUR_TOGETHER)
    assert (one.exchanged, one.points) == (True, (3, 10))


def test_of_two_equal_points_the_one_in_place_stays():
    walks = _walks(0, "random")
    walks[:, 4] = walks[:, 12]
    assert _points(walks) == [4]
