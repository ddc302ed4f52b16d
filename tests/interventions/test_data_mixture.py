"""Weights that are the sizes change nothing; others come out as asked, and reach every start."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ontogeny.catalogue import part
from ontogeny.errors import BadContract
from ontogeny.interventions import batch_size, data_mixture, skip_data
from ontogeny.objectives import next_token
from ontogeny.record.recipe import Recipe
from ontogeny.record.training import Drawing, Training
from ontogeny.sources import Mixture, TokenSource
from ontogeny.testing import check_intervention, tiny_training
from ontogeny.vocabulary import Draw, Streams, Window

STARTS = 2000 - 12


def mixed(made, items, step=0, steps=20):
    training = tiny_training()
    made.drawing = Drawing(training.objective, Streams(0), "", steps)
    return made.on_draw(Draw(items), step).items


@given(st.lists(st.integers(1, STARTS - 1), min_size=1, max_size=5, unique=True), st.integers(0, 1000))
def test_weights_that_are_the_sizes_keep_every_start(edges, step):
    edges = sorted(edges)
    sizes = [b - a for a, b in zip([0, *edges], [*edges, STARTS], strict=True)]
    made = data_mixture(cuts=[edge / STARTS for edge in edges], weights=sizes)
    starts = torch.arange(STARTS)
    assert torch.equal(mixed(made, starts, step), starts)
    assert made.rows == sizes


def test_realised_shares_are_the_weights_within_three_standard_errors(run):
    made = data_mixture(cuts=(0.25, 0.5), weights=(1, 3, 6))
    training = tiny_training([made], objective={"batch": 100})
    run(training, 20)
    for count, tokens, share in zip(made.rows, made.tokens, (0.1, 0.3, 0.6), strict=True):
        assert abs(count - 2000 * share) < 3 * (2000 * share * (1 - share)) ** 0.5
        assert tokens == 12 * count
    assert sum(made.rows) == 2000


def test_inside_a_source_starts_are_uniform_and_all_are_reached():
    made = data_mixture(cuts=(0.1,), weights=(0.1, 0.9))
    made.window = Window(0)
    rng = Streams(1).generator("data")
    seen = torch.cat(
        [mixed(made, torch.randint(STARTS, (20000,), generator=rng), step=step) for step in range(5)]
    )
    # the large source is given the small one's chances, so fewer quantiles than starts fall into it
    made = data_mixture(cuts=(0.1,), weights=(0.9, 0.1))
    few = torch.cat([mixed(made, torch.arange(STARTS), step=step) for step in range(150)])
    edge = round(0.1 * STARTS)
    assert len(few[few >= edge].unique()) == STARTS - edge
    counts = torch.bincount(seen, minlength=STARTS).double()
    for inside in (counts[:edge], counts[edge:]):
        mean = inside.mean()
        assert float(((inside - mean).square() / mean).mean()) == pytest.approx(1, abs=0.4)


def test_a_source_without_weight_is_not_read():
    made = data_mixture(cuts=(0.3, 0.6), weights=(1, 0, 1))
    starts = mixed(made, torch.arange(STARTS))
    assert made.rows[1] == 0
    assert not bool(((starts >= round(0.3 * STARTS)) & (starts < round(0.6 * STARTS))).any())
    assert int(starts.min()) >= 0
    assert int(starts.max()) < STARTS


def test_a_ramp_goes_from_the_sizes_to_the_weights():
    shares = []
    for step in (0, 5, 10):
        made = data_mixture(cuts=(0.5,), weights=(0, 1), ramp=True)
        made.window = Window(0, 10)
        mixed(made, torch.arange(STARTS), step)
        shares.append(made.rows[0] / STARTS)
    assert shares == pytest.approx([0.5, 0.25, 0], abs=1e-3)


def test_counters_survive_saving(run):
    made = data_mixture()
    run(tiny_training([made]), 3)
    other = data_mixture()
    other.load_state_dict(made.state_dict())
    assert (other.rows, other.tokens) == (made.rows, made.tokens)
    assert sum(made.rows) == 12


def test_draws_that_are_no_starts_are_refused(run):
    table = {"name": "copied_segments", "vocabulary": 12, "context": 16, "shortest": 3, "longest": 6}
    recipe = Recipe.from_document({"objective": table, "training": {"steps": 2}, "model": {"width": 16}})
    objective = part("objective", "copied_segments").make(**recipe.objective.parameters)
    with pytest.raises(BadContract, match="copied_segments"):
        run(Training(recipe, objective, [data_mixture()]))


@pytest.mark.parametrize(
    "wrong",
    [
        {"cuts": (0.5, 0.2), "weights": (1, 1, 1)},
        {"cuts": (0.5,), "weights": (1,)},
        {"weights": (0, 0)},
        {"weights": (-1, 2)},
        {"cuts": (1.0,)},
    ],
)
def test_sources_that_do_not_add_up_are_refused(wrong):
    with pytest.raises(BadContract, match="data_mixture cannot be made so"):
        data_mixture(**wrong)


def test_a_source_without_a_start_is_refused():
    with pytest.raises(BadContract, match="cuts that part 1988 starts"):
        mixed(data_mixture(cuts=(1e-6,)), torch.arange(3))


def of_corpora(interventions=(), weights=(0.75, 0.25), **tables):
    """A tiny training on two streams: 0 … 19 and 20 … 39, counted upwards."""
    tables = {"objective": {"batch": 40}, **tables}
    plain = tiny_training(**tables)
    sources = []
    for name, first in (("low", 0), ("high", 20)):
        stream = (first + np.arange(700) % 20).astype(np.uint16)
        counts = np.bincount(stream, minlength=40)
        sources.append(TokenSource(name, stream, stream[:200], 40, counts, name, name, ""))
    corpus = Mixture(tuple(sources), weights, "none")
    return Training(plain.recipe, next_token(corpus, **plain.recipe.objective.parameters), interventions)


def test_of_corpora_it_keeps_the_contract():
    made = data_mixture(weights=(0.2, 0.8))
    made.window = Window(2, 5)
    assert check_intervention(of_corpora, made).changed == made.extent
    ramped = data_mixture(weights=(0.2, 0.8), ramp=True)
    ramped.window = Window(1, 5)
    check_intervention(of_corpora, ramped)


@pytest.mark.parametrize("ramp", [False, True])
def test_of_corpora_the_recipe_s_weights_change_no_bit(run, weights, ramp):
    """Also where they are written with another factor."""
    mixed, plain = of_corpora([data_mixture(weights=(3, 1), ramp=ramp)]), of_corpora()
    draws = [[found.draw for found in run(training, 4)] for training in (mixed, plain)]
    assert draws[0] == draws[1]
    assert all(torch.equal(p, weights(mixed)[name]) for name, p in weights(plain).items())


def test_of_corpora_shares_move_within_three_standard_errors_and_are_counted(run):
    made = data_mixture(weights=(0.1, 0.9))
    made.window = Window(20)
    training = of_corpora([made], training={"steps": 40, "accumulation": 2})
    before = run(training, 20)[-1].more
    rows = [before["samples/low"], before["samples/high"]]
    after = run(training, 20)[-1].more
    assert sum(rows) == 1600
    for name, first, share in zip(("low", "high"), (0.75, 0.25), (0.1, 0.9), strict=True):
        for count, chance in ((before[f"samples/{name}"], first), (None, share)):
            count = after[f"samples/{name}"] - before[f"samples/{name}"] if count is None else count
            assert abs(count - 1600 * chance) < 3 * (1600 * chance * (1 - chance)) ** 0.5
        assert after[f"tokens/{name}"] == 12 * after[f"samples/{name}"]
    assert made.rows == [after[f"samples/{name}"] - before[f"samples/{name}"] for name in ("low", "high")]


def test_of_corpora_a_ramp_goes_from_the_recipe_s_weights(run):
    made = data_mixture(weights=(0, 1), ramp=True)
    made.window = Window(0, 10)
    shares = []
    training = of_corpora([made], objective={"batch": 1000, "context": 2})
    for step in (0, 5, 9):
        training.state["counters"].step = step
        before = list(made.rows)
        run(training)
        shares.append((made.rows[0] - before[0]) / 1000)
    assert shares == pytest.approx([0.75, 0.375, 0.075], abs=0.05)


def test_of_corpora_it_composes_with_other_draws(run):
    """Twice the rows from later steps, then the mixture: the rows asked for, from the source asked for."""
    made = data_mixture(weights=(0, 1))
    training = of_corpora([skip_data(steps=3), batch_size(share=2.0), made])
    assert run(training)[0].samples == 80
    assert made.rows == [0, 80]


@pytest.mark.parametrize("wrong", [{"weights": (1, 1, 1)}, {"weights": (1, 1), "cuts": (0.5,)}])
def test_of_corpora_every_one_has_a_weight_and_there_are_no_cuts(run, wrong):
    with pytest.raises(BadContract, match="one weight for each of low, high, and no cuts"):
        run(of_corpora([data_mixture(**wrong)]))
