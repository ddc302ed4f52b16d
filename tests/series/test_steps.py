"""The table of steps and tokens beside the rows."""

import math
import shutil

import numpy as np
import pandas as pd
import pytest

from ontogeny.errors import BadSource
from ontogeny.record.recipe import Recipe
from ontogeny.record.train import train
from ontogeny.series import Series, read_steps, with_tokens, write_steps
from ontogeny.series.steps import tokens_by


@pytest.mark.parametrize(("rule", "expected"), [(512, 5120.0), (lambda step: 7 * step, 70.0), (None, None)])
def test_rules(rule, expected):
    assert tokens_by(rule)(10) == expected


@pytest.mark.parametrize("rule", [-1, math.nan, lambda step: "many", lambda step: math.inf])
def test_a_rule_that_counts_nothing_is_refused(rule):
    with pytest.raises(BadSource, match="no number of tokens for step 10"):
        tokens_by(rule)(10)


def test_the_table_comes_back_and_joins_rows(tmp_path, bare):
    for step in (10, 2):
        bare(tmp_path / f"step{step}")
    found = Series.open(tmp_path, tokens=lambda step: 100 * step)
    found.home.mkdir()
    assert read_steps(found.home).empty
    write_steps(found.home, found.checkpoints)
    table = read_steps(found.home)
    assert table.to_dict("list") == {"step": [2, 10], "tokens": [200.0, 1000.0], "label": ["step2", "step10"]}
    rows = with_tokens(pd.DataFrame({"step": [10, 2, 10, 3], "value": [1.0, 2.0, 3.0, 4.0]}), found.home)
    np.testing.assert_equal(rows["tokens"].to_numpy(), [1000.0, 200.0, 1000.0, np.nan])


def test_what_was_known_is_not_forgotten(tmp_path, bare):
    for step in (1, 2):
        bare(tmp_path / f"step{step}")
    home = tmp_path / "ontogeny"
    home.mkdir()
    write_steps(home, Series.open(tmp_path, tokens=10).checkpoints)
    file = next(home.iterdir())
    written = file.stat().st_mtime_ns
    write_steps(home, Series.open(tmp_path).checkpoints)
    assert file.stat().st_mtime_ns == written
    bare(tmp_path / "step3")
    shutil.rmtree(tmp_path / "step1")
    write_steps(home, Series.open(tmp_path).checkpoints)
    np.testing.assert_equal(read_steps(home)["tokens"].to_numpy(), [10, 20, np.nan])
    write_steps(home, Series.open(tmp_path, tokens=100).checkpoints)
    np.testing.assert_equal(read_steps(home)["tokens"].to_numpy(), [10, 200, 300])


def test_without_a_rule_tokens_are_missing(tmp_path, bare):
    bare(tmp_path / "step2")
    found = Series.open(tmp_path)
    found.home.mkdir()
    write_steps(found.home, found.checkpoints)
    assert read_steps(found.home)["tokens"].isna().all()


def test_a_run_knows_its_tokens(tmp_path):
    recipe = {
        "model": {"width": 8, "layers": 1, "heads": 1},
        "objective": {"name": "copied_segments", "vocabulary": 16, "context": 16, "batch": 2, "shortest": 2,
                      "longest": 8},
        "optimizer": {"name": "adamw", "lr": 0.01},
        "training": {"steps": 4},
        "recording": {"every": 2, "dense_until": 1, "evaluate": 0, "samples": 0},
    }  # fmt: skip
    train(Recipe.from_document(recipe), tmp_path / "run", grade=False)
    found = Series.open(tmp_path / "run")
    recorded = found.run.telemetry("tokens").set_index("step")["tokens"]
    assert found.checkpoints[0].tokens == 0
    assert {c.step: c.tokens for c in found.checkpoints if c.step} == {
        c.step: recorded[c.step] for c in found.checkpoints if c.step
    }
    assert found.checkpoints[-1].tokens > 0
