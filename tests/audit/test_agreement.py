"""Equal results: an initialisation, a file saved twice, a copy, or chance."""

from dataclasses import replace

import numpy as np
import pytest

from ontogeny.audit.agreement import agreement_findings
from ontogeny.bridges import Evaluation


def _series(seed, count=8, tasks=30, first=0):
    rng = np.random.default_rng(seed)
    return [
        Evaluation(
            source=f"{seed}-{step}",
            group="g",
            file="f",
            model="",
            step=step,
            values={f"t{i}": {"acc": float(rng.normal())} for i in range(tasks)},
            errors={},
            digest=f"{seed}-{step}",
        )
        for step in range(first, first + count)
    ]


def _copied(series, to, source):
    return [replace(one, values=source.values) if one.step == to else one for one in series]


def _found(**series):
    return [(one.kind, one.steps) for one in agreement_findings(series)]


def test_different_results_agree_nowhere():
    assert _found(a=_series(0), b=_series(1)) == []


def test_equal_points_at_the_opening_are_no_update_yet():
    one = _series(0, first=100)
    assert _found(a=_copied(one, 101, one[0])) == [("no-update-yet", (100, 101))]


def test_equal_points_later_are_duplicates():
    one = _series(0)
    assert _found(a=_copied(one, 5, one[3])) == [("duplicate-results", (3, 5))]


@pytest.mark.parametrize("same", [{"digest": "x"}, {"weights": "x"}])
def test_equal_files_or_weights_are_one_file(same):
    one = _series(0)
    one = [replace(point, **same) if point.step in (0, 1) else point for point in _copied(one, 1, one[0])]
    assert _found(a=one) == [("same-file", (0, 1))]


def test_few_tasks_that_agree_may_be_chance():
    one = _series(0, tasks=1)
    assert _found(a=_copied(one, 5, one[3])) == [("chance-agreement", (3, 5))]


def test_one_number_less_equal_is_no_agreement():
    one = _series(0)
    near = replace(one[5], values={**one[3].values, "t0": {"acc": 0.0}})
    assert _found(a=[*one[:5], near, *one[6:]]) == []


def test_series_that_begin_alike_share_their_initialisation():
    one, other = _series(0), _series(1)
    assert _found(a=one, b=_copied(other, 0, one[0])) == [("same-initialisation", (0,))]


def test_no_update_yet_extends_the_opening_that_is_shared():
    one, other = _series(0), _series(1)
    one = _copied(one, 1, one[0])
    other = _copied(_copied(other, 0, one[0]), 1, one[0])
    kinds = _found(a=one, b=other)
    assert ("same-initialisation", (0, 1)) in kinds
    assert kinds.count(("no-update-yet", (0, 1))) == 2


def test_equal_results_at_one_later_step_are_shared_and_at_other_steps_foreign():
    one, other = _series(0), _series(1)
    assert _found(a=one, b=_copied(other, 5, one[5])) == [("shared-checkpoint", (5,))]
    assert _found(a=one, b=_copied(other, 5, one[3])) == [("foreign-checkpoint", (3, 5))]
