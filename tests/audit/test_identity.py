"""Equal checkpoints: what lies beside the weights tells one file from training that stood still."""

import pytest
import torch

from ontogeny.audit.identity import equality_findings, reading_findings
from ontogeny.audit.imprint import Imprint

from .conftest import imprints_of


def _points(contents, states=None):
    states = states or [None] * len(contents)
    return [Imprint(s, str(s), c, c, state=t) for s, (c, t) in enumerate(zip(contents, states, strict=True))]


@pytest.mark.parametrize(
    ("contents", "states", "found"),
    [
        ("abcd", None, []),
        ("aabc", None, [("no-update-yet", (0, 1))]),
        ("aa", None, [("no-update-yet", (0, 1))]),
        ("aaab", None, [("no-update-yet", (0, 1, 2))]),
        ("abbc", None, [("duplicate-checkpoint", (1, 2))]),
        ("abcb", None, [("duplicate-checkpoint", (1, 3))]),
        ("aabc", "xyzw", [("no-update-yet", (0, 1))]),
        ("aabc", "xxzw", [("same-file", (0, 1))]),
        ("abbc", "xyyw", [("same-file", (1, 2))]),
        ("abbc", "xyzw", [("no-update", (1, 2))]),
        ("aaba", None, [("no-update-yet", (0, 1)), ("duplicate-checkpoint", (0, 1, 3))]),
    ],
)
def test_equal_weights(contents, states, found):
    made = equality_findings("s", _points(contents, states))
    assert [(one.kind, one.steps) for one in made] == found


@pytest.mark.parametrize(
    ("states", "kind"), [((None, None), "duplicate-checkpoint"), ("xx", "same-file"), ("xy", "no-update")]
)
def test_a_series_in_which_nothing_ever_changes_is_no_beginning(states, kind):
    points = [Imprint(s, str(s), "a", "a", state=t) for s, t in zip((100, 200), states, strict=True)]
    assert [(one.kind, one.steps) for one in equality_findings("s", points)] == [(kind, (100, 200))]


def test_values_that_are_not_finite_and_tensors_that_differ():
    series = {step: {"a": torch.ones(2), "b": torch.ones(3)} for step in range(4)}
    series[1]["a"] = torch.tensor([1.0, float("nan")])
    series[2] = {"a": torch.ones(2)}
    series[3] = {"a": torch.ones(2).half(), "b": torch.ones(3).half()}
    found = {(one.kind, one.steps, one.tensors) for one in reading_findings("s", imprints_of(series))}
    assert found == {
        ("nonfinite", (1,), ("a",)),
        ("changed-tensors", (2,), ("b",)),
        ("changed-dtype", (3,), ()),
    }
