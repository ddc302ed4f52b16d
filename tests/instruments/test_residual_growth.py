"""ACT-05."""

import numpy as np
import pytest
import torch

from ontogeny.catalogue import part
from ontogeny.testing import course_of, rows_said


def said(norms, axes=("layer",)):
    norms = np.asarray(norms, dtype=float)
    course = course_of("residual_norm", norms, [10 * k for k in range(len(norms))], axes)
    rows = rows_said(part("summary", "residual_growth"), {"residual_norm": course})
    return {(row["step"], row["component"]): row for row in rows}


def test_doubling_each_block_is_two():
    rows = said([3.0 * 2.0 ** np.arange(6)])
    assert rows[0, ""]["value"] == pytest.approx(2)
    assert rows[0, "ratio"]["value"] == pytest.approx(32)
    assert rows[0, ""]["n"] == 6


def test_independent_writes_grow_as_a_root_of_depth(gaussian):
    streams = gaussian(8, 20, 20, 256).cumsum(0)
    rows = said([streams.norm(dim=-1).mean((1, 2)).tolist()])
    logs = torch.arange(1.0, 9).log() / 2
    depth = torch.arange(8.0) - 3.5
    assert np.log(rows[0, ""]["value"]) == pytest.approx(float(depth @ logs / (depth @ depth)), rel=0.01)
    assert rows[0, "ratio"]["value"] == pytest.approx(8**0.5, rel=0.01)


def test_every_step_has_its_own_and_scale_does_not_matter():
    rows = said([[1, 2, 4], [7, 7, 7], [10, 20, 40]])
    assert [rows[step, ""]["value"] for step in (0, 10, 20)] == pytest.approx([2, 1, 2])


def test_depth_counts_on_where_the_stack_is_applied_again():
    rows = said([[[1, 2, 4], [8, 16, 32]]], axes=("loop", "layer"))
    assert rows[0, ""]["value"] == pytest.approx(2)
    assert rows[0, "ratio"]["value"] == pytest.approx(32)


@pytest.mark.parametrize(
    ("norms", "expected"),
    [([5], "n-too-small"), ([1, np.nan, 2], "nonfinite"), ([0, 1, 2], "zero-output")],
)
def test_what_does_not_grow_says_why(norms, expected):
    rows = said([norms, norms])
    assert rows[0, ""]["status"] == rows[10, ""]["status"] == expected
    assert rows[0, ""]["reason"]
