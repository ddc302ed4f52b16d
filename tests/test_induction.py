"""The induction task and its controls, whole: trained, measured and detected with defaults untouched.

Seeds are the reader's: `ONTOGENY_SEEDS=5,17,23 make test-all`. Each run takes about a minute on one thread.
"""

import os
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
import torch

from ontogeny.detect import claimed, detect, detect_each, leads, over_seeds
from ontogeny.measure import measure
from ontogeny.record.recipe import load_recipe
from ontogeny.record.train import train

SEEDS = [int(seed) for seed in os.environ.get("ONTOGENY_SEEDS", "11,12,13").split(",")]
WINDOW = (600, 1350)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> Callable[..., Path]:
    """A run of a recipe under a seed, trained and measured once for all tests."""
    folder, made = tmp_path_factory.mktemp("induction"), {}

    def train_once(name: str, *overrides: str) -> Path:
        key = (name, *overrides)
        if key not in made:
            torch.set_num_threads(1)
            run = train(load_recipe(name, overrides), folder / f"{name}-{len(made)}", grade=False)
            assert measure(run.path) >= 25
            made[key] = run.path
        return made[key]

    return train_once


def best(found: pd.DataFrame, part: str) -> pd.Series | None:
    chosen = claimed(found)
    chosen = chosen[chosen["part"] == part]
    return None if chosen.empty else chosen.iloc[0]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("vocabulary", [64, 48])
def test_induction_forms_inside_its_window_and_the_previous_token_head_not_later(trained, seed, vocabulary):
    overrides = (f"training.seed={seed}", f"objective.vocabulary={vocabulary}")
    found = detect(trained("induction", *overrides))
    induction = best(found, "induction")
    assert induction is not None, found[found["part"] == "induction"].to_string()
    assert WINDOW[0] <= induction["step"] <= WINDOW[1]
    assert induction["low"] <= induction["step"] <= induction["high"]
    assert induction["p"] < 0.01
    assert induction["layer"] == 1
    previous = found[(found["part"] == "previous_token") & (found["verdict"] == "transition")]
    previous = previous[previous["layer"] == 0].sort_values("size", ascending=False)
    assert not previous.empty, found[found["part"] == "previous_token"].to_string()
    # The two form together: their half-rises differ by a few steps either way, never beyond their intervals.
    assert previous.iloc[0]["low"] <= induction["high"]


def test_one_layer_never_forms_it(trained):
    found = detect(trained("induction-one-layer", f"training.seed={SEEDS[0]}"))
    assert best(found, "induction") is None
    assert set(found[found["part"] == "induction"]["verdict"]) <= {"none", "gradual", "unfinished"}


def test_a_positional_habit_is_not_induction_though_the_loss_falls(trained):
    found = detect(trained("induction-absolute", f"training.seed={SEEDS[0]}"))
    assert best(found, "induction") is None
    loss = found[found["part"] == "heldout_loss"].iloc[0]
    assert loss["size"] < -2, "the loss on the repeats falls by nats"
    assert loss["low"] <= loss["step"] <= loss["high"]
    assert loss["verdict"] != "transition", "no null is known for a loss, so nothing is claimed of it"


def test_over_seeds_it_forms_in_all_runs_and_in_no_control(trained):
    """The run is the unit; so few seeds have an interval, and no p against controls where none could be."""
    if len(SEEDS) < 2:
        pytest.skip("one seed has no interval over seeds")
    parts = ["induction", "previous_token"]
    seeded = [f"training.seed={seed}" for seed in SEEDS]
    tables = detect_each([trained("induction", seed, "objective.vocabulary=64") for seed in seeded], parts)
    controls = detect_each([trained("induction-one-layer", seeded[0])], parts)
    found = over_seeds(tables, controls)
    row = found[found["part"] == "induction"].iloc[0]
    assert (row["shown"], row["runs"], row["controls_shown"]) == (len(SEEDS), len(SEEDS), 0)
    assert WINDOW[0] <= row["step"] <= WINDOW[1]
    assert row["low"] <= row["step"] <= row["high"]
    assert pd.isna(row["p"])
    assert "cannot go below" in row["reason"]
    alone = over_seeds(tables)
    assert alone[alone["part"] == "induction"]["p"].iloc[0] < 0.01 ** (len(SEEDS) - 1)
    over = leads(tables, "previous_token", "induction").iloc[-1]
    assert over["n"] == len(SEEDS)
    assert abs(over["lead"]) < 0.1, "they form together, within a quarter of the steps"
