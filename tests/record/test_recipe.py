"""A recipe is read whole or refused by its key, and its hash is what would be trained."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ontogeny.instruments
import ontogeny.objectives  # noqa: F401  (both declare parts)
from ontogeny.catalogue import objective
from ontogeny.errors import BadRecipe
from ontogeny.objectives import copied_segments, next_token
from ontogeny.recipes import shipped
from ontogeny.record.recipe import Recipe, load_recipe
from ontogeny.testing import temporary_catalogue

LEAST = {"objective": {"name": "copied_segments"}, "training": {"steps": 10}}


@pytest.mark.parametrize("name", shipped())
def test_its_document_survives_json_and_gives_it_back(name):
    recipe = load_recipe(name)
    again = Recipe.from_document(json.loads(json.dumps(recipe.document())))
    assert again == recipe
    assert again.hash == recipe.hash


def test_a_recipe_can_be_two_lines():
    recipe = Recipe.from_document(LEAST)
    assert recipe.objective.parameters["vocabulary"] == 64
    assert recipe.decoder(64, 64).width == 128
    assert "corpus" not in recipe.document()
    assert not recipe.reads_text


def test_prose_changes_no_hash_and_every_value_does():
    plain = load_recipe("letters")
    assert load_recipe("letters", ["title='another'", "expected='nothing'"]).hash == plain.hash
    for override in ("model.width=64", "training.seed=1", "objective.batch=8", "optimizer.eps=1e-9"):
        assert load_recipe("letters", [override]).hash != plain.hash, override
    assert load_recipe("letters", ["recording.samples=0"]).hash != plain.hash


def test_a_default_that_is_written_out_changes_no_hash():
    assert load_recipe("letters", ["model.mlp=swiglu"]).hash == load_recipe("letters").hash


@given(st.floats(0, 1e6), st.integers(1, 1 << 40), st.booleans())
def test_overrides_are_toml_values(lr, steps, keep):
    overrides = [
        f"optimizer.lr={lr!r}",
        f"training.steps = {steps}",
        f"recording.keep_optimizer={str(keep).lower()}",
    ]
    recipe = load_recipe("induction", overrides)
    assert (recipe.optimizer.lr, recipe.training.steps, recipe.recording.keep_optimizer) == (lr, steps, keep)


def test_an_override_may_be_a_bare_word_a_path_or_a_table():
    overrides = ["corpus.name=/some/where.txt", "tokenizer.name=bytes", "optimizer={name='sgd', lr=1}"]
    recipe = load_recipe("letters", overrides)
    assert recipe.corpus.name == "/some/where.txt"
    assert recipe.tokenizer.name == "bytes"
    assert (recipe.optimizer.name, recipe.optimizer.lr) == ("sgd", 1.0)


WRONG = [
    ("letters", "optimizer.lrr=1", "optimizer.lrr", "did you mean 'optimizer.lr'"),
    ("letters", "optimiser.lr=1", "optimiser", "did you mean 'optimizer'"),
    ("letters", "model.widht=1", "model.widht", "did you mean 'model.width'"),
    ("letters", "model.vocabulary=1", "model.vocabulary", "model.width"),
    ("letters", "model.mlp=swigluu", "model.mlp", "did you mean 'swiglu'"),
    ("letters", "model.width=true", "model.width", "integer"),
    ("letters", "objective.bach=1", "objective.bach", "did you mean 'objective.batch'"),
    ("letters", "objective.batch=0.5", "objective.batch", "integer"),
    ("letters", "objective.name=nexttoken", "nexttoken", "did you mean 'next_token'"),
    ("letters", "optimizer.name=adamww", "adamww", "did you mean 'adamw'"),
    ("letters", "optimizer.name=sgd", "optimizer.betas", "replace the table"),
    ("letters", "optimizer.lr=nan", "optimizer.lr", "finite|greater"),
    ("letters", "optimizer.lr=inf", "optimizer.lr", "finite"),
    ("letters", "training.steps=1000.0", "training.steps", "integer"),
    ("letters", "training.seed=-1", "training.seed", "greater than or equal to 0"),
    ("letters", "training=3", "training", "dictionary"),
    ("letters", "training.steps.x=1", "training.steps", "set training.steps"),
    ("letters", "schedule.final=2", "schedule.final", "less than or equal to 1"),
    ("letters", "measure.parts=['inductio']", "inductio", "did you mean 'induction'"),
    ("letters", "training.steps=", "training.steps", "TOML"),
    ("letters", "training.steps", "training.steps", "optimizer.lr=3e-4"),
    ("letters", "=3", "=3", "optimizer.lr=3e-4"),
    ("letters", "model.heads=5", "heads 5", "multiple of heads"),
    ("induction", "corpus.name=x", "[corpus]", "remove [corpus]"),
    ("induction", "objective.loss_on=some", "objective.loss_on", "'repeats'"),
]


@pytest.mark.parametrize(("name", "override", "key", "help"), WRONG, ids=[wrong[1] for wrong in WRONG])
def test_what_is_wrong_is_named_with_what_to_do(name, override, key, help):
    with pytest.raises(BadRecipe) as caught:
        load_recipe(name, [override])
    said = str(caught.value)
    assert key in said
    assert re.search(help.replace("[", r"\["), said)
    assert "pydantic" not in said
    assert caught.value.__cause__ is None


def test_missing_tables_and_files_are_named(tmp_path):
    with pytest.raises(BadRecipe, match=r"training\.steps is missing"):
        Recipe.from_document({**LEAST, "training": {}})
    with pytest.raises(BadRecipe, match="objective is missing"):
        Recipe.from_document({"training": {"steps": 1}})
    with pytest.raises(BadRecipe, match="did you mean 'letters'"):
        load_recipe("leters")
    broken = tmp_path / "broken.toml"
    broken.write_text("title = \n")
    with pytest.raises(BadRecipe, match=r"(?s)not TOML.*line 1"):
        load_recipe(broken)


def test_a_recipe_cannot_be_changed():
    recipe = load_recipe("letters")
    with pytest.raises(ValueError, match="frozen"):
        recipe.training.steps = 3


def test_its_task_is_made_with_its_parameters_and_its_corpus(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("some words to read again and again\n" * 200)
    overrides = [f"corpus.name='{text}'", "tokenizer.size=280", "objective.context=16", "objective.batch=3"]
    task = load_recipe("letters", overrides).task(tmp_path / "cache")
    assert isinstance(task, next_token)
    assert (task.rows, task.context, task.corpus.name) == (3, 16, "text.txt")
    other = Recipe.from_document(LEAST).task(tmp_path)
    assert isinstance(other, copied_segments)


MIXED = {
    "objective": {"name": "next_token", "batch": 3, "context": 16},
    "training": {"steps": 10},
    "corpus": [{"name": "python-stdlib", "weight": 3}, {"name": "other.txt"}],
}


def test_one_corpus_is_written_as_ever():
    """So that recipes from before there were mixtures keep their hash."""
    recipe = Recipe.from_document({"objective": {"name": "next_token"}, "training": {"steps": 10}})
    assert recipe.document()["corpus"] == {"name": "python-stdlib", "field": "text"}
    assert recipe.document()["tokenizer"] == {"name": "bpe", "size": 512}


def test_several_corpora_have_weights_and_survive_json(tmp_path):
    file = tmp_path / "mixed.toml"
    file.write_text(
        '[objective]\nname = "next_token"\n[training]\nsteps = 10\n'
        '[[corpus]]\nname = "python-stdlib"\nweight = 3\n[[corpus]]\nname = "other.txt"\n'
        '[tokenizer]\ncorpus = "other.txt"\n'
    )
    recipe = load_recipe(file)
    assert [(one.name, one.weight) for one in recipe.corpus] == [("python-stdlib", 3), ("other.txt", 1)]
    assert recipe.tokenizer.corpus == "other.txt"
    again = Recipe.from_document(json.loads(json.dumps(recipe.document())))
    assert (again, again.hash) == (recipe, recipe.hash)
    other = load_recipe(file, ["corpus.1.weight=0.5"])
    assert [one.weight for one in other.corpus] == [3, 0.5]
    assert other.hash != recipe.hash


@pytest.mark.parametrize(
    ("tables", "key", "help"),
    [
        ({"corpus": MIXED["corpus"][:1]}, "fewer than two", r"write \[corpus\]"),
        ({"corpus": [{"weight": 0}, {"weight": 0.0}]}, "no corpus has a weight", "at least one above 0"),
        ({"corpus": [{"weight": -1}, {}]}, "corpus.0.weight", "greater than or equal to 0"),
        ({"corpus": [{}, {"wieght": 1}]}, "corpus.1.wieght", "did you mean 'corpus.1.weight'"),
        ({"corpus": {"weight": 1}}, "corpus.weight", "corpus.name"),
        ({"corpus": [1, 2]}, "corpus.0", "correct corpus.0"),
        ({"corpus": "text"}, "corpus", "correct corpus"),
        ({"tokenizer": {"corpus": "third.txt"}}, "tokenizer.corpus", "other.txt"),
        ({"tokenizer": {"corpus": "other.txt", "name": "bytes"}}, "tokenizer.corpus", "with bpe"),
        ({"objective": {"name": "copied_segments"}}, "[corpus]", "remove"),
    ],
)
def test_a_mixture_that_cannot_be_is_named(tables, key, help):
    with pytest.raises(BadRecipe) as caught:
        Recipe.from_document({**MIXED, **tables})
    assert key in str(caught.value)
    assert re.search(help, str(caught.value))


def test_an_objective_that_knows_one_corpus_gets_no_mixture():
    with temporary_catalogue():

        @objective(source="a test")
        class alone:
            """Learns from one text."""

            def __init__(self, corpus, *, batch: int = 1): ...

        table = {**MIXED, "objective": {"name": "alone"}}
        with pytest.raises(BadRecipe, match="'alone' learns from one corpus"):
            Recipe.from_document(table)
        Recipe.from_document({**table, "corpus": {}})


@pytest.mark.parametrize("key", ["corpus.name", "corpus.2.name", "corpus.x"])
def test_an_override_into_a_list_needs_a_number_that_is_there(key, tmp_path):
    file = tmp_path / "mixed.toml"
    file.write_text('[objective]\nname = "next_token"\n[training]\nsteps = 1\n[[corpus]]\n[[corpus]]\n')
    with pytest.raises(BadRecipe, match="numbers from 0 to 1"):
        load_recipe(file, [f"{key}=a"])


def test_a_mixture_s_task_reads_all_its_corpora(tmp_path):
    paths = [tmp_path / name for name in ("one.txt", "two.txt")]
    for path in paths:
        path.write_text(f"some words of {path.name}\n" * 200)
    table = {**MIXED, "corpus": [{"name": str(path), "weight": 1} for path in paths]}
    task = Recipe.from_document({**table, "tokenizer": {"size": 270}}).task(tmp_path / "cache")
    assert isinstance(task, next_token)
    assert task.corpus.names == ("one.txt", "two.txt")
    assert task.corpus.weights == (0.5, 0.5)
    assert task.corpus.vocabulary == 270
