"""Outliers among results, on trajectories with errors of a known size."""

import numpy as np
import pytest

from ontogeny.audit.profile import excess, profile_findings
from ontogeny.bridges import Evaluation

TASKS, POINTS, ERROR = 40, 24, 0.01


def _results(seed, rise=1.0):
    """A learning curve in every task, with noise of the reported size."""
    rng = np.random.default_rng(seed)
    height, middle = rng.uniform(0, 0.5, TASKS), rng.uniform(4, 16, TASKS)
    curve = 0.25 + rise * height / (1 + np.exp(middle - np.arange(POINTS)[:, None]))
    return curve + ERROR * rng.normal(size=curve.shape)


def _members(values):
    return [
        Evaluation(
            source=str(step),
            group="g",
            file="f",
            model="",
            step=step,
            values={f"t{i}": {"acc": float(value)} for i, value in enumerate(row)},
            errors={f"t{i}": {"acc": ERROR} for i in range(len(row))},
        )
        for step, row in enumerate(values)
    ]


def _kinds(values):
    return [(one.kind, one.steps) for one in profile_findings("s", _members(values))]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("rise", [0.0, 1.0])
def test_a_learning_curve_with_noise_of_the_reported_size_is_clean(seed, rise):
    assert _kinds(_results(seed, rise)) == []


def test_f87_the_final_results_at_an_early_step_are_misplaced():
    values = _results(0)
    values[3] = values[-1] + 1e-4
    ((kind, steps),) = _kinds(values)
    assert (kind, steps[0]) == ("misplaced-results", 3)
    assert steps[1] > 15


def test_one_number_out_of_place_is_named_with_its_task():
    values = _results(0)
    values[12, 5] += 0.3
    (found,) = profile_findings("s", _members(values))
    assert (found.kind, found.steps, found.tasks) == ("outlier-results", (12,), ("t5",))


def test_a_metric_that_always_jumps_is_erratic_and_has_no_outliers():
    values = _results(0)
    values[:, 5] += 0.4 * np.random.default_rng(1).normal(size=POINTS)
    ((kind, _),) = _kinds(values)
    assert kind == "erratic-metric"


def test_two_spikes_that_look_alike_are_outliers_and_no_exchange():
    values = _results(0)
    values[[9, 14]] -= 0.2
    found = set(_kinds(values))
    assert {("outlier-results", (9,)), ("outlier-results", (14,))} <= found
    assert "misplaced-results" not in {kind for kind, _ in found}


def test_two_trajectories_that_take_turns_are_told_apart():
    values = _results(0, rise=0.0)
    values[::2] += 0.2
    assert "interleaved-runs" in {kind for kind, _ in _kinds(values)}


def test_excess_is_zero_inside_and_counts_errors_outside():
    values, errors = np.array([[0.0], [3.0], [1.0], [0.9], [0.8]]), np.full((5, 1), 1.0)
    assert excess(values, errors)[1, 0] == pytest.approx(2 / np.sqrt(3))
    assert excess(values, errors)[3, 0] == 0
    assert np.isnan(excess(values, errors)[[0, 4]]).all()
    assert np.isnan(excess(values, np.zeros((5, 1)))).all()
