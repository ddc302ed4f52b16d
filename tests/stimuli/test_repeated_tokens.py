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
    duplicate, successor = stimulus.aims["duplicate"], stimulus.aims["successor"]
    assert torch.equal(duplicate.own, successor.own)
    for row, tokens in enumerate(stimulus.tokens):
        template = int(duplicate.own[row])
        lag = int(duplicate.lags[template])
        block = tokens[head : head + lag]
        assert torch.equal(block, tokens[head + lag : head + 2 * lag])
        assert len(block.unique()) == lag
        queries = positions[successor.queries[template]]
        assert queries.tolist() == list(range(head + lag, head + 2 * lag))
        second = positions[duplicate.queries[template]]
        assert second.tolist() == [query for query in queries.tolist() if query > lag], "key 0 is no target"
        assert torch.equal(tokens[queries - lag], tokens[queries])
        known = positions[stimulus.weights[row] > 0]
        assert known.tolist() == queries[:-1].tolist()
        assert torch.equal(tokens[known + 1], tokens[known - int(successor.lags[template])])
        assert int(queries.min()) - int(successor.lags[template]) == head + 1, "key 0 is never a target"


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
    lags = lags_of(stimulus)
    assert int(lags.min()) >= 12
    assert int(lags.max()) <= (context - 1) // 2
    if first is not None:
        assert stimulus.tokens[:, 0].tolist() == [first] * 8
        assert not (stimulus.tokens[:, 1:] == first).any(), "the beginning token is no random token"


def lags_of(stimulus: Stimulus) -> torch.Tensor:
    """The repeat length of every sequence."""
    return stimulus.aims["duplicate"].lags[stimulus.aims["duplicate"].own]


def test_lengths_leave_out_those_of_training_and_are_equally_usual():
    stimulus = made.make(Facts(lags=range(14, 30)))
    assert sorted(lags_of(stimulus).tolist()) == [12] * 16 + [13] * 16 + [30] * 16 + [31] * 16
    assert len(lags_of(made.make(Facts())).unique()) == 20


@pytest.mark.parametrize("lags", [(), range(14, 32)])
def test_every_draw_exchanges_templates_and_leaves_none_its_own(lags):
    aim = made.make(Facts(lags=lags)).aims["successor"]
    assert aim.shuffled.shape == (199, 64)
    assert not (aim.shuffled == aim.own).any()
    assert (aim.shuffled.sort(1).values == aim.own.sort().values).all(), "the same templates as the truth"


def test_false_lags_of_the_previous_token_are_below_every_induction_lag():
    stimulus = made.make(Facts())
    aim = stimulus.aims["previous"]
    assert aim.lags[aim.own].unique().tolist() == [1]
    assert set(aim.lags[aim.shuffled].flatten().tolist()) == set(range(2, 11))
    assert int(aim.lags.max()) < int(stimulus.aims["successor"].lags.min())


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
