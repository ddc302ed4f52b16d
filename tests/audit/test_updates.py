"""Jumps that stay, and what looks like one and is none."""

import numpy as np
import pytest
import torch

from ontogeny.audit.updates import excesses, stale_findings, update_findings
from ontogeny.audit.weight_path import WeightPath

from .conftest import imprints_of


def _series(sizes, steps=None, seed=0):
    """Two matrices that take random steps of the given sizes."""
    rng = np.random.default_rng(seed)
    weights = {"a": rng.normal(size=(32, 32)), "b": rng.normal(size=(32, 32))}
    found = {}
    for step, size in zip(steps or range(len(sizes) + 1), [0, *sizes], strict=True):
        weights = {name: w + size * rng.normal(size=w.shape) for name, w in weights.items()}
        found[step] = {name: torch.tensor(w, dtype=torch.float32) for name, w in weights.items()}
    return found


def _kinds(series):
    return [(one.kind, one.steps) for one in update_findings("s", WeightPath.of(imprints_of(series)))]


def test_a_jump_that_stays_is_an_outlier():
    assert _kinds(_series([0.01] * 6 + [0.08] + [0.01] * 6)) == [("update-outlier", (6, 7))]


@pytest.mark.parametrize(
    "sizes",
    [
        np.linspace(0.001, 0.05, 12),
        np.linspace(0.05, 0.001, 12),
        [0.05] * 6 + [0.005] * 6,
        [0.005] * 6 + [0.05] * 6,
    ],
    ids=["warm-up", "decay", "decay at once", "restart"],
)
def test_schedules_are_no_outliers(sizes):
    assert _kinds(_series(list(sizes))) == []


@pytest.mark.parametrize("power", [0.5, 1.0])
def test_changes_of_spacing_are_no_outliers(power):
    steps = [0, 1, 2, 3, 4, 5, 105, 205, 305, 306, 307, 308]
    assert _kinds(_series(list(0.01 * np.diff(steps) ** power), steps)) == []


def test_what_stood_still_around_a_move_has_no_measure():
    assert np.isinf(excesses(WeightPath.of(imprints_of(_series([0, 0, 0, 0.1, 0, 0, 0]))))).any()


def test_one_interval_without_movement_is_stale_and_freezing_is_not():
    series = _series([0.01] * 9)
    stale = {**series, 5: {"a": series[4]["a"], "b": series[5]["b"]}}
    (found,) = stale_findings("s", imprints_of(stale))
    assert (found.steps, found.tensors) == ((4, 5), ("a",))
    frozen = {step: {"a": series[min(step, 4)]["a"], "b": w["b"]} for step, w in series.items()}
    assert not list(stale_findings("s", imprints_of(frozen)))
