"""The stimulus that induction is screened on, token by token."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ontogeny.catalogue import part
from ontogeny.testing import TinyFacts
from ontogeny.vocabulary import Reading, Status, Stimulus

made = part("stimulus", "repeated_tokens")


class Facts(TinyFacts):
    """Of a wider vocabulary, with whatever is to be different."""

    vocabulary, context, lags, counts, first = 300, 64, (), None, None

    def __init__(self, **changes) -> None:
        self.__dict__ |= changes

    def fixed_lags(self):
        return frozenset(self.lags)

    def token_counts(self):
        return self.counts

    def beginning(self):
        return self.first


def check(stimulus: Stimulus, head: int) -> None:
    """Every eligible query has the token it looks for where each aim says, and only there in its block."""
    positions = torch.arange(stimulus.shape[1])
    duplicate, successor, previous = (stimulus.aims[name] for name in ("duplicate", "successor", "previous"))
    for row, tokens in enumerate(stimulus.tokens):
        lag = int(duplicate.lags[row])
        block = tokens[head : head + lag]
        assert torch.equal(block, tokens[head + lag : head + 2 * lag])
        assert len(block.unique()) == lag
        queries = positions[duplicate.queries[row]]
        assert queries.tolist() == list(range(head + lag, head + 2 * lag))
        assert torch.equal(tokens[queries - lag], tokens[queries])
        known = positions[stimulus.weights[row] > 0]
        assert known.tolist() == queries[:-1].tolist()
        assert torch.equal(tokens[known + 1], tokens[known - int(successor.lags[row])])
        assert int(queries.min()) >= int(previous.shuffled[:, row].max())
        assert int(queries.min()) - int(successor.lags[row]) > 0 or head == 0


@given(context=st.integers(28, 200), first=st.sampled_from([None, 0, 7, 299]), seed=st.integers(0, 5))
def test_every_query_finds_its_target(context, first, seed):
    stimulus = made.make(Facts(context=context, first=first), sequences=8, seed=seed)
    if isinstance(stimulus, Reading):
        assert stimulus.status is Status.TOO_SHORT
        assert context < 29
        return
    head = 0 if first is None else 1
    check(stimulus, head)
    assert stimulus.shape[1] <= context
    lags = stimulus.aims["duplicate"].lags
    assert int(lags.min()) >= 12
    assert int(lags.max()) <= (context - 1 - head) // 2
    if first is not None:
        assert stimulus.tokens[:, 0].tolist() == [first] * 8
        assert not (stimulus.tokens[:, 1:] == first).any(), "the beginning token is no random token"


def test_lengths_repeat_neither_training_nor_each_other():
    stimulus = made.make(Facts(lags=range(14, 30)))
    assert set(stimulus.aims["duplicate"].lags.tolist()) == {12, 13, 30, 31}
    plain = made.make(Facts()).aims["duplicate"]
    assert len(plain.lags.unique()) > 10
    assert not (plain.shuffled == plain.lags).any()
    assert set(plain.shuffled.flatten().tolist()) == set(range(12, 32))


def test_the_null_of_the_previous_token_is_below_every_induction_lag():
    stimulus = made.make(Facts())
    shuffled = stimulus.aims["previous"].shuffled
    assert set(shuffled.flatten().tolist()) == set(range(2, 11))
    assert int(shuffled.max()) < int(stimulus.aims["successor"].lags.min())


def test_only_usual_tokens_are_used():
    counts = torch.zeros(300, dtype=torch.long)
    counts[100:150] = 100
    counts[150:] = 99
    tokens = made.make(Facts(counts=counts)).tokens
    assert (int(tokens.min()), int(tokens.max())) == (100, 149)


def test_what_does_not_fit_says_why():
    short = made.make(Facts(context=25))
    assert short.status is Status.TOO_SHORT
    assert "25" in short.reason
    few = made.make(Facts(counts=torch.full((300,), 99)))
    assert few.status is Status.N_TOO_SMALL
    assert made.make(Facts(vocabulary=20)).status is Status.N_TOO_SMALL


@pytest.mark.parametrize("changed", [{"seed": 1}, {"sequences": 63}, {"least_count": 1}])
def test_a_changed_parameter_is_another_stimulus(changed):
    assert made.make(Facts()).hash == made.make(Facts()).hash
    assert made.make(Facts(), **changed).hash != made.make(Facts()).hash
