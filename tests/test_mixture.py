"""A run of two corpora: recorded, replayed, resumed, thinned and branched across a change of weights."""

import hashlib

import pytest

from ontogeny.branch import branch
from ontogeny.interventions import data_mixture
from ontogeny.measure.facts import facts_of
from ontogeny.record.recipe import Recipe
from ontogeny.record.train import resume, train
from ontogeny.record.training import Training, objective_of
from ontogeny.replay import at, thin
from ontogeny.series import Series
from ontogeny.store.run import Run
from ontogeny.testing import tiny_subject
from ontogeny.vocabulary import Streams
from tiny_recipe import tiny

STEPS = 24


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """Two texts of other letters."""
    home = tmp_path_factory.mktemp("texts")
    for name, letters in (("low", "abcdef"), ("high", "uvwxyz")):
        rows = (hashlib.blake2b(f"{name}{k}".encode()).digest() for k in range(200))
        (home / f"{name}.txt").write_text("\n".join("".join(letters[b % 6] for b in row) for row in rows))
    return home


def recipe(texts, **tables) -> Recipe:
    document = tiny(**{"model": {"dropout": 0.1}, "training": {"accumulation": 2}, **tables}).document()
    document["objective"] = {"name": "next_token", "batch": 20, "context": 16}
    names = [("low", 0.8), ("high", 0.2)]
    document["corpus"] = [{"name": str(texts / f"{name}.txt"), "weight": weight} for name, weight in names]
    document["tokenizer"] = {"name": "bytes"}
    return Recipe.from_document(document)


@pytest.fixture(scope="module")
def run(texts, tmp_path_factory) -> Run:
    return train(recipe(texts), tmp_path_factory.mktemp("runs") / "mixed")


def column(run: Run, name: str) -> dict[int, float]:
    frame = run.telemetry(name).dropna().drop_duplicates("step", keep="last")
    return dict(zip(frame["step"].tolist(), frame[name].tolist(), strict=True))


def test_a_run_says_what_it_is_made_of_and_counts_it(run, texts):
    sources = run.identity["sources"]
    assert sources["corpus"] == "low.txt + high.txt"
    assert [(one["corpus"], one["weight"]) for one in sources["mixture"]] == [
        ("low.txt", 0.8), ("high.txt", 0.2)
    ]  # fmt: skip
    assert len({one["corpus_hash"] for one in sources["mixture"]} | {sources["corpus_hash"]}) == 3
    assert (sources["encoding"], run.grade) == ("tokenizer bytes", "E")
    tokens = {name: column(run, f"tokens/{name}.txt") for name in ("low", "high")}
    total = column(run, "tokens")
    assert all(tokens["low"][step] + tokens["high"][step] == total[step] for step in range(1, STEPS + 1))
    rows = column(run, "samples/low.txt")[STEPS]
    assert abs(rows - 960 * 0.8) < 3 * (960 * 0.16) ** 0.5
    assert run.checkpoints[-1].document("state")["by_source"]["samples"] == [rows, 960 - rows]


def test_held_out_loss_is_the_mean_of_those_by_source(run):
    whole, low, high = (column(run, f"heldout_loss{name}") for name in ("", "/low.txt", "/high.txt"))
    assert whole.keys() == low.keys() == high.keys() >= {0, STEPS}
    for step, loss in whole.items():
        assert loss == pytest.approx((low[step] + high[step]) / 2, rel=1e-6)
    assert high[STEPS] > low[STEPS], "a fifth of the rows teaches less"


def test_the_held_out_stimulus_goes_by_the_sources_alone(run, texts):
    """Measured on the same rows, whatever the weights: what was trained on them enters nothing."""
    facts = facts_of(Series.open(run.path), tiny_subject())
    rows, weights = facts.heldout(6, 12)
    assert set(facts.text(rows[:3].flatten())) <= set("abcdef\n")
    assert set(facts.text(rows[3:].flatten())) <= set("uvwxyz\n")
    assert weights.sum() == 6 * 11
    assert int(facts.token_counts().sum()) == sum(
        len(source.train) for source in recipe(texts).task(run.path.parent / "tokens").corpus.sources
    )


def test_a_replay_gives_the_counts_by_source_too(run):
    assert at(run, 17).exact
    found = at(run, 17, start=run.checkpoints[0]).training
    assert found.by_source.record()["samples/low.txt"] == column(run, "samples/low.txt")[17]


def test_a_change_of_weights_moves_the_rows_and_nothing_else(run):
    home = run.path.parent
    spec = "data_mixture(weights=(0.1, 0.9))"
    whole = branch(run, at=8, apply=[spec], end=20, out=home / "whole")
    sham = branch(run, at=8, apply=[spec], end=20, out=home / "sham", sham=True)
    digests = column(run, "model_digest")
    assert column(sham, "model_digest") == {step: d for step, d in digests.items() if step >= 8}
    assert column(whole, "model_digest")[8] == digests[8]
    assert column(whole, "model_digest")[9] != digests[9]
    rows, before = (column(one, "samples/high.txt") for one in (whole, run))
    given, untouched = rows[20] - before[8], before[20] - before[8]
    assert abs(given - 480 * 0.9) < 3 * (480 * 0.09) ** 0.5
    assert given > untouched + 200
    assert rows[24] - rows[20] == before[24] - before[20], "after the window the recipe's weights, bit by bit"
    draws = [column(one, "draw") for one in (whole, run)]
    assert all((draws[0][step] == draws[1][step]) == (step > 20) for step in range(9, 25))
    heldout = [column(one, "heldout_loss/high.txt")[24] for one in (whole, run)]
    assert heldout[0] < heldout[1], "what was shown more is known better"
    assert at(whole, 22, start=whole.checkpoints[0]).exact
    assert thin(whole, 2)
    assert at(Run.open(whole.path), 23).exact

    def stop(step, _found):
        if step == 14:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        branch(run, at=8, apply=[spec], end=20, out=home / "cut", progress=stop)
    cut = resume(home / "cut")
    for name in ("model_digest", "samples/low.txt", "tokens/high.txt"):
        assert column(cut, name) == column(whole, name)
    assert cut.checkpoints[-1].document("state")["intervention0"] == {
        "rows": [480 - given, given], "tokens": [16 * (480 - given), 16 * given]
    }  # fmt: skip


def test_only_the_draws_differ_where_the_weights_do(texts, tmp_path, monkeypatch):
    """Every generator that is made is made with the same key, whatever the weights."""
    asked = []
    make = Streams.generator

    def spy(self, stream, step=0, place="", device="cpu"):
        made = make(self, stream, step, place, device)
        asked.append((stream, step, place, made.initial_seed()))
        return made

    monkeypatch.setattr(Streams, "generator", spy)
    objective = objective_of(recipe(texts), tmp_path / "run")
    found = []
    for interventions in ([], [data_mixture(weights=(0, 1))]):
        asked.clear()
        training = Training(recipe(texts), objective, interventions)
        for _ in range(3):
            training.step()
            training.state["counters"].step += 1
        found.append((list(asked), training.by_source.samples[1]))
    assert found[0][0] == found[1][0]
    assert found[0][1] < found[1][1] == 120
