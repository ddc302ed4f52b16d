"""The table of addition is parted once, by its own seed, and only the answer counts."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ontogeny.catalogue import DataFacts, Objective
from ontogeny.errors import BadRecipe
from ontogeny.objectives import modular_addition
from ontogeny.vocabulary import Streams, TrainingState

PRIMES = st.sampled_from([2, 3, 5, 7, 11, 13])


def drawn(objective, step=0):
    draw = objective.draw(step, Streams(0).generator("data", step))
    return draw, objective.batch(draw, TrainingState(), torch.Generator())


def test_it_keeps_the_contracts():
    objective = modular_addition()
    assert isinstance(objective, Objective)
    assert isinstance(objective.facts(), DataFacts)
    assert (objective.vocabulary, objective.context) == (98, 4)


@given(PRIMES, st.floats(0.3, 0.7), st.integers(0, 5))
def test_trained_and_held_out_pairs_are_the_whole_table_once(prime, share, seed):
    objective = modular_addition(prime=prime, train_share=share, batch=prime**2, split_seed=seed)
    _, batch = drawn(objective)
    others, weights = objective.heldout(10_000, 4)
    rows = torch.cat([batch["tokens"], others])
    assert len(rows) == len(rows.unique(dim=0)) == prime**2
    assert ((rows[:, 0] + rows[:, 1]) % prime == rows[:, 3]).all()
    assert (rows[:, 2] == prime).all()
    assert rows[:, [0, 1, 3]].max() < prime
    assert len(batch["tokens"]) == round(share * prime**2)
    assert weights.tolist() == [[0, 0, 1, 0]] * len(others)
    assert batch["weights"].tolist() == [[0, 0, 1]] * len(batch["tokens"])


def test_the_split_is_its_own_seed_s_and_the_draw_is_the_run_s():
    assert torch.equal(modular_addition().others, modular_addition(batch=7).others)
    assert not torch.equal(modular_addition().others, modular_addition(split_seed=1).others)
    objective = modular_addition(batch=100)
    first, second = drawn(objective, 0)[0], drawn(objective, 1)[0]
    assert first.identity != second.identity
    assert first.identity == drawn(objective, 0)[0].identity
    assert len(first.items.unique()) == 100
    assert not torch.isin(first.items, objective.others).any()


def test_as_many_held_out_pairs_as_asked():
    objective = modular_addition()
    assert objective.heldout(10, 64)[0].shape == (10, 4)
    assert len(objective.heldout(100_000, 4)[0]) == 9409 - round(0.4 * 9409)
    assert objective.heldout(10, 3) is None


def test_a_guess_costs_ln_p_and_only_the_answer_counts():
    objective = modular_addition(prime=7, batch=10)
    _, batch = drawn(objective)

    class Guess(torch.nn.Module):
        def forward(self, tokens):
            logits = torch.zeros(*tokens.shape, 8)
            logits[..., 7] = -torch.inf
            logits[:, :2] = 3 * torch.arange(8.0)
            return logits

    torch.testing.assert_close(objective.loss(Guess(), batch).mean(), torch.tensor(math.log(7)))


def test_counts_text_and_lags():
    objective = modular_addition(prime=5, train_share=0.4)
    counts = objective.token_counts()
    assert counts.sum() == 4 * 10
    assert counts[5] == 10
    assert objective.facts().text(torch.tensor([3, 4, 5, 2])) == "3 4 = 2"
    assert objective.facts().fixed_lags() == frozenset()


@pytest.mark.parametrize(
    "wrong", [{"prime": 9}, {"prime": 1}, {"train_share": 0.0}, {"train_share": 1.0}, {"batch": 0}]
)
def test_what_cannot_be_is_refused(wrong):
    with pytest.raises(BadRecipe):
        modular_addition(**wrong)
