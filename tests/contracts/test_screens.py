"""What picks heads, units or directions by a score has a null, or says why none makes sense."""

import pytest

from ontogeny.catalogue import Part, parts

#: Axes and kinds of site along which the best of many may be chosen.
CHOSEN = {"head", "neuron", "feature", "direction"}
#: Directions that are loaded on.
DIRECTIONS = {made.name for made in parts("fit").values() if made.name.endswith("_direction")}


def picks(made: Part) -> bool:
    """Whether it gives one number for each of several heads, units or directions, or loads on a direction."""
    per_unit = CHOSEN & {*made.axes, *made.at}
    return bool(per_unit) or made.family == "heads" or bool(DIRECTIONS & set(made.needs))


SCREENS = [made for made in parts("instrument").values() if picks(made)]


@pytest.mark.parametrize("made", SCREENS, ids=lambda made: made.name)
def test_a_screen_has_a_null_or_says_why_not(made):
    none = made.said("Null").startswith("none, because")
    assert bool(made.null) != none, f"{made.name}: null=, or a paragraph `Null: none, because …`"
    if made.null:
        assert parts("null")[made.null].make is not made.make


def test_the_screens_there_are():
    nulls = {made.name: made.null for made in SCREENS if made.null}
    assert nulls == {
        "copying": "shuffled_label",
        "duplicate_token": "shuffled_lag",
        "induction": "shuffled_lag",
        "previous_token": "shuffled_lag",
        "prior_loading": "random_direction",
        "sink_mass": "shuffled_lag",
    }
    without = {made.name for made in SCREENS} - set(nulls)
    assert without == {"attention_entropy", "head_dimension", "head_redundancy"}
