"""Held-out rows as a stimulus."""

import pytest
import torch

from ontogeny.catalogue import part
from ontogeny.testing import TinyFacts
from ontogeny.vocabulary import Reading, Status

made = part("stimulus", "heldout")


class Facts(TinyFacts):
    def __init__(self, **changes) -> None:
        self.__dict__ |= changes


def test_rows_weights_and_the_aim_of_the_previous_token():
    stimulus = made.make(TinyFacts())
    tokens, weights = TinyFacts().heldout(128, 40)
    assert torch.equal(stimulus.tokens, tokens)
    assert torch.equal(stimulus.weights, weights)
    aim = stimulus.aims["previous"]
    assert aim.lags[aim.own].tolist() == [1] * 24
    assert aim.queries[0].tolist() == [False] + [True] * 39
    assert aim.lags.tolist() == list(range(1, 21))
    for lag, queries in zip(aim.lags[1:], aim.queries[1:], strict=True):
        assert queries.tolist() == [False] * (int(lag) + 1) + [True] * (39 - int(lag)), "key 0 is no target"
    assert aim.shuffled.shape == (199, 24)


def test_its_hash_follows_its_seed_and_its_tokens():
    plain = made.make(TinyFacts()).hash
    assert made.make(TinyFacts()).hash == plain
    assert made.make(TinyFacts(), seed=1).hash != plain
    assert made.make(TinyFacts(), length=39).hash != plain


def test_the_context_limits_the_length():
    assert made.make(Facts(context=12)).shape[1] == 12
    assert made.make(Facts(context=4096)).shape[1] == 512


def test_a_short_context_has_no_aim():
    stimulus = made.make(Facts(context=5))
    assert stimulus.shape[1] == 5
    assert not stimulus.aims


def test_no_data_is_a_status():
    found = made.make(Facts(heldout=lambda sequences, length: None))
    assert isinstance(found, Reading)
    assert found.status is Status.NO_TARGET
    assert "--text" in found.reason


def test_the_global_generator_is_not_touched():
    before = torch.get_rng_state()
    made.make(TinyFacts())
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize("length", [6, 7])
def test_the_shortest_lengths_with_an_aim_have_a_lag_to_draw(length):
    aim = made.make(Facts(context=length)).aims["previous"]
    assert set(aim.lags[aim.shuffled].flatten().tolist()) == {2, 3}
