"""Gaps in the step axis."""

import pytest

from ontogeny.series.spacing import jumps


@pytest.mark.parametrize(
    "steps",
    [
        [],
        [5],
        [0, 1000],
        [0, 10, 20, 30],
        [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000, 2000, 3000],
        [1, 10, 100, 1000, 10_000],
        [0, 100, 200, 300, 350],
    ],
)
def test_plain_spacings_have_no_jump(steps):
    assert jumps(steps) == []


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([0, 10, 40, 50, 60], "from 10 to 40"),
        ([0, 100, 200, 900, 1000], "from 200 to 900"),
        ([100, 200, 300, 1000], "from 300 to 1000"),
    ],
)
def test_a_lost_stretch_is_named(steps, said):
    (note,) = jumps(steps)
    assert said in note
