"""Weights that are the sizes change nothing; others come out as asked, and reach every start."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ontogeny.catalogue import part
from ontogeny.errors import BadContract
from ontogeny.interventions import data_mixture
from ontogeny.record.recipe import Recipe
from ontogeny.record.training import Drawing, Training
from ontogeny.testing import tiny_training
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
