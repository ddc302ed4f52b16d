"""The induction task and its controls, whole: trained, measured and detected with defaults untouched.

Seeds are the reader's: `ONTOGENY_SEEDS=5,17,23 make test-all`. Each run takes about a minute on one thread.
"""

import os

import pandas as pd
import pytest
import torch

from ontogeny.detect import claimed, detect
from ontogeny.measure import measure
from ontogeny.record.recipe import load_recipe
from ontogeny.record.train import train

SEEDS = [int(seed) for seed in os.environ.get("ONTOGENY_SEEDS", "11,12,13").split(",")]
WINDOW = (600, 1350)

pytestmark = pytest.mark.slow


def transitions(folder, name: str, *overrides: str) -> pd.DataFrame:
    torch.set_num_threads(1)
    run = train(load_recipe(name, overrides), folder / name, grade=False)
    assert measure(run.path) >= 25
    return detect(run.path)


def best(found: pd.DataFrame, part: str) -> pd.Series | None:
    chosen = claimed(found)
    chosen = chosen[chosen["part"] == part]
    return None if chosen.empty else chosen.iloc[0]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("vocabulary", [64, 48])
def test_induction_forms_inside_its_window_and_the_previous_token_head_not_later(tmp_path, seed, vocabulary):
    overrides = (f"training.seed={seed}", f"objective.vocabulary={vocabulary}")
    found = transitions(tmp_path, "induction", *overrides)
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


def test_one_layer_never_forms_it(tmp_path):
    found = transitions(tmp_path, "induction-one-layer", f"training.seed={SEEDS[0]}")
    assert best(found, "induction") is None
    assert set(found[found["part"] == "induction"]["verdict"]) <= {"none", "gradual", "unfinished"}


def test_a_positional_habit_is_not_induction_though_the_loss_falls(tmp_path):
    found = transitions(tmp_path, "induction-absolute", f"training.seed={SEEDS[0]}")
    assert best(found, "induction") is None
    loss = found[found["part"] == "heldout_loss"].iloc[0]
    assert loss["size"] < -2, "the loss on the repeats falls by nats"
    assert loss["low"] <= loss["step"] <= loss["high"]
    assert loss["verdict"] != "transition", "no null is known for a loss, so nothing is claimed of it"
