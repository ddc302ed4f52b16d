"""Gaps and jumps of steps, told from grids that are irregular on purpose."""

import pytest

from ontogeny.audit.axis import axis_findings, jumps, missing_points
from ontogeny.audit.identity import reading_findings
from ontogeny.audit.imprint import Imprint

PYTHIA = [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000, *range(3000, 143001, 10000)]


@pytest.mark.parametrize(
    ("steps", "missing"),
    [
        ([0, 10, 20, 30, 50, 60], [40]),
        ([0, 10, 20, 30, 50], [40]),
        ([0, 20, 30, 40, 50], [10]),
        ([0, 100, 200, 300, 600, 700], [400, 500]),
        ([1, 2, 4, 8, 32, 64], [16]),
        (PYTHIA, []),
        (list(range(0, 1001, 100)) + list(range(2000, 9001, 1000)), []),
        ([0, 100, 200, 300, 5000], []),
        ([5, 7], []),
        ([], []),
    ],
)
def test_points_missing_from_the_own_grid(steps, missing):
    assert missing_points(steps) == missing


def test_points_that_siblings_have_in_any_unit_of_steps():
    sibling = [3, 13, 23, 33, 43, 53, 90]
    own = [8 * step for step in sibling if step != 53]
    (found,) = axis_findings({"own": own, "sibling": sibling})
    assert (found.kind, found.series, found.steps) == ("missing-points", "own", (8 * 53,))


def test_a_coarser_series_lacks_nothing():
    assert not list(axis_findings({"fine": range(0, 100, 5), "coarse": range(0, 100, 10)}))


def test_f02_a_counter_that_was_multiplied_on_resume_is_a_jump():
    steps = [2, 4, 6, 8, 10, 40, 48, 56, 64]
    assert list(jumps(steps)) == [(10, 40, 4.0)]
    (found,) = axis_findings({"resumed": steps})
    assert (found.kind, found.steps) == ("step-jump", (10, 40))


def test_f02_a_folder_named_by_another_counter_is_a_mismatch():
    points = [Imprint(10, "checkpoint-40", recorded=10), Imprint(20, "checkpoint-20", recorded=20)]
    points.append(Imprint(30, "step7"))
    (found,) = reading_findings("s", points)
    assert (found.kind, found.steps) == ("step-mismatch", (10,))


def test_a_change_of_the_interval_is_no_jump():
    assert not list(jumps([0, 1, 2, 3, 4, 100, 200, 300, 400]))
    assert not list(jumps(PYTHIA))
