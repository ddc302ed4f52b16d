"""The window's draws are those of the named steps, bit for bit, in order or in a circle."""

import pytest

from ontogeny.errors import BadContract
from ontogeny.interventions import replace_data
from ontogeny.testing import tiny_training
from ontogeny.vocabulary import Window


@pytest.mark.parametrize(
    ("parameters", "steps"),
    [({"first": 0}, [0, 1, 2]), ({"first": 7, "length": 2}, [7, 8, 7]), ({"first": 4, "length": 1}, [4] * 3)],
)
def test_the_window_s_draws_are_those_of_other_steps(parameters, steps, run):
    made = replace_data(**parameters)
    made.window = Window(2, 5)
    plain = [found.draw for found in run(tiny_training(), 9)]
    replaced = [found.draw for found in run(tiny_training([made]), 7)]
    assert replaced == [*plain[:2], *(plain[step] for step in steps), *plain[5:7]]


def test_negative_steps_are_refused():
    with pytest.raises(BadContract, match="first=-1"):
        replace_data(first=-1)
