"""Distances and correlations of samples."""

import numpy as np
import pytest
import torch

from ontogeny.audit.weight_path import WeightPath

from .conftest import imprints_of


def test_distances_are_root_mean_squares_and_correlations_those_of_entries():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(4, 300)).astype(np.float32)
    path = WeightPath.of(imprints_of({s: {"a": torch.tensor(row)} for s, row in enumerate(rows)}))
    assert path.distances[0, 1, 3] == pytest.approx(np.sqrt(((rows[1] - rows[3]) ** 2).mean()), rel=1e-6)
    assert np.allclose(path.correlations[0], np.corrcoef(rows), atol=1e-6)


def test_a_distance_from_a_sample_is_near_the_true_one():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(2, 100_000)).astype(np.float32)
    path = WeightPath.of(imprints_of({s: {"a": torch.tensor(row)} for s, row in enumerate(rows)}))
    assert path.distances[0, 0, 1] == pytest.approx(np.sqrt(2), rel=0.1)


def test_tensors_that_stand_still_or_are_small_or_not_shared_are_left_out():
    def weights(step):
        found = {"large": torch.full((300,), float(step)), "small": torch.full((3,), float(step))}
        return {**found, "still": torch.ones(300), **({"extra": torch.ones(300)} if step else {})}

    path = WeightPath.of(imprints_of({step: weights(step) for step in range(3)}))
    assert path.names == ["large"]
    assert np.isnan(path.correlations).all()


def test_where_all_tensors_are_small_the_larger_half_is_taken():
    sizes = {"a": 4, "b": 8, "c": 16}
    made = {s: {name: torch.full((n,), float(s)) for name, n in sizes.items()} for s in range(3)}
    assert set(WeightPath.of(imprints_of(made)).names) == {"b", "c"}
