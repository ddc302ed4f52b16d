"""TOK-06."""

import math

import pytest
import torch


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
