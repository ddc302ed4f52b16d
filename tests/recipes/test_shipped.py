"""Every shipped recipe loads, says what it is for, and records enough."""

import pytest

import ontogeny.objectives  # noqa: F401  (declares the parts)
from ontogeny.models import Decoder
from ontogeny.recipes import shipped
from ontogeny.record.recipe import load_recipe


@pytest.mark.parametrize("name", shipped())
def test_it_loads_and_opens_with_command_minutes_and_what_to_expect(name):
    opening = [line for line in shipped()[name].read_text().splitlines() if line.startswith("#")]
    assert opening[0] == f"# ontogeny record {name}"
    assert "minute" in opening[1]
    assert len(opening) >= 3
    recipe = load_recipe(name)
    assert recipe.title
    assert "step" in recipe.expected
    assert len(recipe.recording.scheduled(recipe.training.steps).steps()) >= 25


def test_the_names_are_those_of_the_files():
    assert {"letters", "induction", "induction-one-layer", "induction-absolute", "grokking"} <= set(shipped())


def test_letters_is_a_small_llama():
    recipe = load_recipe("letters")
    config = recipe.decoder(vocabulary=512, context=64)
    assert (config.norm, config.mlp, config.positions, config.bias) == ("rmsnorm", "swiglu", "rotary", False)
    assert sum(parameter.numel() for parameter in Decoder(config).parameters()) == 857_216


def test_the_controls_differ_from_induction_where_they_say(tmp_path):
    one, absolute = load_recipe("induction-one-layer"), load_recipe("induction-absolute")
    changed = load_recipe("induction", ["model.layers=1"])
    assert one.hash == changed.hash
    overrides = ["model.positions=learned", "objective.shortest=32", "objective.start=zero"]
    assert absolute.hash == load_recipe("induction", [*overrides, "objective.loss_on=repeats"]).hash
    assert absolute.task(tmp_path).facts().fixed_lags() == {32}
