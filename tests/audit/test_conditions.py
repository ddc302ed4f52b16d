"""Settings, tasks and runs that change inside a series."""

from pathlib import Path

from ontogeny.audit.conditions import condition_findings
from ontogeny.bridges import Evaluation, Evaluations


def _point(step, group="g", file="f", tasks=("a", "b"), **more):
    values = {task: {"acc": 0.5} for task in tasks}
    defaults = {"source": f"{file}{step}", "model": "", "errors": {}}
    return Evaluation(group=group, file=file, step=step, values=values, **(defaults | more))


def _found(*points):
    return {(one.kind, one.steps) for one in condition_findings(Evaluations.of(Path("x"), list(points)))}


def test_a_constant_series_has_no_finding():
    assert not _found(*(_point(step, settings={"batch_size": "4"}) for step in range(5)))


def test_a_batch_size_and_other_settings_that_change():
    points = [
        _point(s, settings={"batch_size": "4" if s < 2 else "8", "limit": str(s > 3)}) for s in range(5)
    ]
    assert _found(*points) == {("changed-batch-size", (0, 1)), ("changed-setting", (4,))}


def test_a_task_whose_version_changed():
    points = [_point(s, task_settings={"version": {"a": "1" if s < 4 else "2", "b": "1"}}) for s in range(5)]
    assert _found(*points) == {("changed-task-setting", (4,))}


def test_a_point_with_other_tasks():
    assert _found(*(_point(s, tasks=("a",) if s == 3 else ("a", "b")) for s in range(5))) == {
        ("changed-tasks", (3,))
    }


def test_two_runs_in_one_folder():
    points = [_point(step, file=file, model=file) for file in ("x", "y") for step in range(3)]
    assert _found(*points) == {("mixed-runs", (0, 1, 2))}


def test_one_model_under_two_names():
    points = [_point(step, file="x" if step < 2 else "y", model="m") for step in range(5)]
    assert _found(*points) == {("several-names", (0, 1))}


def test_a_step_twice_and_a_step_that_was_another():
    assert ("repeated-step", (1,)) in _found(_point(0), _point(1), _point(1))
    assert _found(_point(0, stated_step=0), _point(1, stated_step=5)) == {("step-mismatch", (1,))}


def test_results_without_a_step():
    assert _found(_point(0), _point(None)) == {("no-step", ())}


def test_a_series_with_fewer_tasks_than_its_siblings():
    many = tuple("abcdefghij")
    points = [_point(s, group="one", tasks=many) for s in range(3)]
    points += [_point(s, group="two", tasks=many[1:]) for s in range(3)]
    assert _found(*points) == {("fewer-tasks", ())}
