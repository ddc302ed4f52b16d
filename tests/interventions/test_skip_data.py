"""The draw of step s is that of the untouched run at s + steps, bit for bit."""

import pytest

from ontogeny.errors import BadContract
from ontogeny.interventions import skip_data
from ontogeny.testing import tiny_training
from ontogeny.vocabulary import Window


@pytest.mark.parametrize("accumulation", [1, 2])
def test_draws_come_from_later_steps_inside_the_window(accumulation, run):
    tables = {"training": {"accumulation": accumulation}}
    made = skip_data(steps=3)
    made.window = Window(2, 5)
    plain = [found.draw for found in run(tiny_training(**tables), 9)]
    skipped = [found.draw for found in run(tiny_training([made], **tables), 9)]
    assert skipped == [*plain[:2], *plain[5:8], *plain[5:]]


def test_an_open_window_never_sees_the_skipped_draws(run):
    made = skip_data(steps=2)
    made.window = Window(1)
    plain = [found.draw for found in run(tiny_training(), 9)]
    skipped = [found.draw for found in run(tiny_training([made]), 7)]
    assert skipped == [plain[0], *plain[3:]]


def test_skipping_nothing_is_refused():
    with pytest.raises(BadContract, match="steps from 1"):
        skip_data(steps=0)
