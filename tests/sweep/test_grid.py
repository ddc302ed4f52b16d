"""Grids: names, combinations, and what is refused before anything starts."""

import re
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontogeny.errors import BadRecipe
from ontogeny.sweep.grid import LONGEST_NAME, load_grid, name_of, seeded, seeds, toml_value

SCALARS = st.integers() | st.floats(allow_nan=False) | st.booleans() | st.text(max_size=30)
VALUES = SCALARS | st.lists(SCALARS, max_size=3) | st.dictionaries(st.text(max_size=4), SCALARS, max_size=2)
KEYS = st.sampled_from(["optimizer.lr", "schedule.lr", "training.seed", "model.width", "objective.mix"])


@pytest.fixture
def grid(tmp_path):
    """`grid(text)`: the plan of a grid file with that text."""

    def load(text: str):
        (tmp_path / "grid.toml").write_text(text)
        return load_grid(tmp_path / "grid.toml")

    return load


@pytest.mark.parametrize(
    ("text", "found"), [("0:3", (0, 1, 2)), ("3,5,8", (3, 5, 8)), ("7", (7,)), ("0:2, 9", (0, 1, 9))]
)
def test_seeds_are_ranges_and_lists(text, found):
    assert seeds(text) == found


@pytest.mark.parametrize("text", ["", "a", "1:", ":3", "-1", "0:0", "1,1", "0:3,2", "1.5", "1:2:3"])
def test_other_seeds_are_refused(text):
    with pytest.raises(BadRecipe, match="seeds"):
        seeds(text)


def test_seeds_of_a_recipe_differ_in_nothing_else():
    plan = seeded("induction", (0, 3), ["training.steps=5"])
    assert [run.name for run in plan] == ["seed-0", "seed-3"]
    first, second = (run.recipe.document() for run in plan)
    assert second["training"].pop("seed") == 3
    assert first["training"].pop("seed") == 0
    assert first == second
    assert first["training"]["steps"] == 5


def test_a_grid_is_every_combination_in_order(grid):
    plan = grid(
        'recipe = "induction"\nseeds = "0:2"\n[grid]\noptimizer.lr = [1e-3, 3e-3]\n"model.heads" = [2]'
    )
    assert [run.name for run in plan] == [
        "lr=0.001-heads=2-seed=0",
        "lr=0.001-heads=2-seed=1",
        "lr=0.003-heads=2-seed=0",
        "lr=0.003-heads=2-seed=1",
    ]
    last = plan[-1].recipe
    assert (last.optimizer.lr, last.model.heads, last.training.seed) == (0.003, 2, 1)
    assert len({run.recipe.hash for run in plan}) == 4


def test_lists_and_tables_are_values_too(grid):
    plan = grid('recipe = "induction"\n[grid]\noptimizer.betas = [[0.9, 0.98], [0.9, 0.999]]')
    assert [run.recipe.optimizer.betas for run in plan] == [(0.9, 0.98), (0.9, 0.999)]
    assert all(re.fullmatch(r"betas=_0.9_0.9\d+-[0-9a-f]{8}", run.name) for run in plan)


def test_a_recipe_beside_the_grid_is_found(grid, tmp_path):
    (tmp_path / "mine.toml").write_text(
        '[objective]\nname = "copied_segments"\nvocabulary = 12\ncontext = 16\nbatch = 4\nshortest = 3\n'
        "longest = 6\n[training]\nsteps = 3\n"
    )
    assert grid('recipe = "mine.toml"\nseeds = "4"')[0].recipe.training.seed == 4


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('recipe = "induction"\n[grid]\noptimizer.lrr = [1.0]', "did you mean 'optimizer.lr'"),
        ('recipe = "induction"\n[grid]\noptimizer.lr = [1e-3, "fast"]', "optimizer.lr has a value"),
        ('recipe = "inductoin"\nseeds = "0:2"', "did you mean 'induction'"),
        ('recipe = "induction"\n[grid]\noptimizer.lr = 1e-3', "no list of values"),
        ('recipe = "induction"\n[grid]\noptimizer.lr = []', "no list of values"),
        ('recipe = "induction"\n[grid]\noptimizer.lr = [1e-3, 1e-3]', "a combination twice"),
        ('recipe = "induction"\nseeds = "0:2"\n[grid]\ntraining.seed = [1]', "seeds twice"),
        ('recipe = "induction"', "spans no grid"),
        ('seeds = "0:2"', "names no recipe"),
        ('recipe = "induction"\nseed = 3', "a key it cannot have"),
        ("recipe = ", "not TOML"),
    ],
)
def test_a_wrong_grid_is_refused_at_once(grid, text, said):
    with pytest.raises(BadRecipe, match=re.escape(said)):
        grid(text)


def test_a_missing_grid_is_named(tmp_path):
    with pytest.raises(BadRecipe, match=r"no grid .*nowhere\.toml"):
        load_grid(tmp_path / "nowhere.toml")


def test_names_do_not_depend_on_the_rest_of_the_grid():
    assert name_of({"optimizer.lr": 0.003, "training.seed": 2}) == "lr=0.003-seed=2"
    assert name_of({"a.lr": 1, "b.lr": 2}) == "a.lr=1-b.lr=2"
    assert name_of({"model.norm": "RMS"}) != name_of({"model.norm": "rms"}).upper()


@given(st.dictionaries(KEYS, VALUES, min_size=1))
def test_every_name_is_safe_for_files(chosen):
    name = name_of(chosen)
    assert re.fullmatch(r"[a-z0-9_.=+-]+", name)
    assert len(name) <= LONGEST_NAME
    assert name[0] not in ".-"
    assert name[-1] not in ".-"


@given(*2 * [st.tuples(st.integers() | st.floats(allow_nan=False), st.lists(st.floats(allow_nan=False)))])
def test_names_of_different_settings_differ(first, second):
    names = [name_of({"optimizer.lr": lr, "optimizer.betas": betas}) for lr, betas in (first, second)]
    assert (names[0] == names[1]) == (toml_value(first) == toml_value(second))


@given(VALUES)
def test_a_toml_value_is_read_back(value):
    assert tomllib.loads(f"value = {toml_value(value)}")["value"] == value
