"""TOK-06."""

import math
from types import SimpleNamespace

import pytest
import torch

from ontogeny.catalogue import measuring_part
from ontogeny.evidence import EVIDENCE, View
from ontogeny.instruments.surprisal import surprisal
from ontogeny.testing import TinyFacts, check_degenerate
from ontogeny.vocabulary import Place, Status, Stimulus


def test_a_uniform_model_reads_the_bits_of_its_vocabulary(read):
    rows = read("surprisal", "logits", torch.full((2, 4, 50257), 0.3))
    assert rows[""][0]["value"] == pytest.approx(15.617, abs=5e-4)
    assert rows[""][0]["value"] * math.log(2) == pytest.approx(10.825, abs=5e-4)
    assert rows["perplexity"][0]["value"] == pytest.approx(50257, rel=1e-5)
    assert rows["median"][0]["value"] == pytest.approx(15.617, abs=5e-4)


def test_shifts_of_all_logits_change_nothing(value, gaussian):
    logits = gaussian(3, 6, 11)
    shifted = logits + 7 * gaussian(3, 6, 1, seed=1)
    assert value("surprisal", "logits", shifted) == pytest.approx(
        value("surprisal", "logits", logits), rel=1e-5
    )


def test_it_is_the_loss_in_bits_where_all_weigh_the_same(read, gaussian):
    logits = gaussian(2, 5, 9)
    (loss,), (bits,) = read("heldout_loss", "logits", logits)[""], read("surprisal", "logits", logits)[""]
    assert bits["value"] == pytest.approx(loss["value"] / math.log(2))


def test_the_first_token_and_what_has_no_weight_are_left_out(read, stimulus_of):
    logits = torch.zeros(1, 4, 4)
    logits[0, 1, 0] = 90  # the prediction of token 2
    weights = torch.tensor([[0.0, 5, 1, 0]])
    rows = read("surprisal", "logits", logits, stimulus_of(1, 4, weights=weights))
    assert rows[""][0]["value"] == pytest.approx(1)  # of 0 and 2 bits, whatever they weigh
    assert rows[""][0]["n"] == 2
    assert rows["worst"][0]["value"] == pytest.approx(2 * 0.99)


def test_nothing_and_broken_logits_say_why(status, stimulus_of):
    nothing = stimulus_of(2, 4, weights=torch.zeros(2, 4))
    assert status("surprisal", "logits", torch.zeros(2, 4, 5), nothing) == "no-target"
    assert status("surprisal", "logits", torch.full((2, 4, 5), torch.nan)) == "nonfinite"


def words_of(logits, tokens, starts, weights=None, batch=100):
    """The reading of words, from a vocabulary in which the tokens of `starts` begin words."""
    known = torch.zeros(logits.shape[-1], dtype=torch.bool)
    known[list(starts)] = True
    facts = SimpleNamespace(word_starts=lambda: known)
    every = torch.ones(tokens.shape) if weights is None else weights
    stimulus = Stimulus("heldout", tokens, every)
    found = {}
    for name in ("token_loss", "word_bounds"):
        reducer, state = EVIDENCE[name]["logits"].make(), None
        for first in range(0, len(logits), batch):
            rows = slice(first, min(first + batch, len(logits)))
            view = View(logits[rows], stimulus, rows, Place(), facts)
            state = reducer.update(reducer.init(view) if state is None else state, view)
        found[name] = reducer.finish(state)
    return surprisal(**found)["word"]


def test_words_are_summed_and_each_gives_its_space_to_the_next(gaussian):
    """Word by word: p(word) = p(tokens) · p(a word begins after it) / p(a word begins at it)."""
    starts, tokens = (0, 1), torch.tensor([[2, 0, 3, 2, 1, 0, 4, 1, 3], [0, 2, 2, 2, 2, 2, 2, 2, 1]])
    logits = gaussian(2, 9, 6)
    chances = logits.log_softmax(-1)
    begins = chances[..., list(starts)].logsumexp(-1)
    words = {0: [(1, 4), (4, 5), (5, 7)], 1: []}  # tokens i … j − 1; the last one of a row is not whole
    total, count = 0.0, 0
    for row, spans in words.items():
        for i, j in spans:
            own = sum(float(chances[row, at - 1, tokens[row, at]]) for at in range(i, j))
            total -= own + float(begins[row, j - 1]) - float(begins[row, i - 1])
            count += 1
    for batch in (1, 2):
        found = words_of(logits, tokens, starts, batch=batch)
        assert float(found.value) == pytest.approx(total / count / math.log(2), rel=1e-5)
        assert found.n == count


def test_a_uniform_model_spends_its_vocabulary_on_every_token_of_a_word():
    tokens = torch.tensor([[0, 1, 1]]).repeat(4, 5)
    found = words_of(torch.zeros(4, 15, 8), tokens, (0,))
    assert float(found.value) == pytest.approx(3 * 3)  # three tokens of three bits
    assert found.n == 4 * 3


def test_words_that_are_not_there_or_not_known_say_why(gaussian):
    tokens = torch.tensor([[0, 1, 1, 1]])
    assert words_of(gaussian(1, 4, 3), tokens, (0,)).status is Status.TOO_SHORT
    weights = torch.tensor([[1.0, 0, 1, 1, 1, 0]])
    torn = words_of(gaussian(1, 6, 3), torch.tensor([[1, 0, 1, 1, 0, 1]]), (0,), weights)
    assert torn.status is Status.TOO_SHORT
    assert TinyFacts().word_starts().any()
    check_degenerate(measuring_part("surprisal"))


def test_without_text_there_are_no_words(read, gaussian):
    (row,) = read("surprisal", "logits", gaussian(2, 5, 9))["word"]
    assert row["status"] == "not-observable"
