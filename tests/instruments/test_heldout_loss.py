"""TOK-06."""

import math

import pytest
import torch


@pytest.mark.parametrize(("vocabulary", "known"), [(50257, 10.825), (64, math.log(64))])
def test_a_uniform_model_reads_the_log_of_its_vocabulary(value, vocabulary, known):
    assert value("heldout_loss", "logits", torch.full((2, 4, vocabulary), 0.3)) == pytest.approx(
        known, abs=5e-4
    )


def test_a_certain_model_reads_zero_or_its_certainty(value):
    logits = torch.zeros(2, 4, 5)
    logits[..., 0] = 200
    assert value("heldout_loss", "logits", logits) == 0
    assert value("heldout_loss", "logits", logits.roll(1, -1)) == 200


def test_shifts_of_all_logits_change_nothing(value, gaussian):
    logits = gaussian(3, 6, 11)
    shifted = logits + 7 * gaussian(3, 6, 1, seed=1)
    assert value("heldout_loss", "logits", shifted) == pytest.approx(
        value("heldout_loss", "logits", logits), rel=1e-5
    )


def test_only_what_has_weight_counts(read, gaussian, stimulus_of):
    logits = gaussian(2, 4, 5)
    weights = torch.zeros(2, 4)
    weights[1, 2], weights[0, 0] = 3, 1
    logits[0, 1:], logits[1, :2] = torch.nan, torch.inf
    (row,) = read("heldout_loss", "logits", logits, stimulus_of(2, 4, weights=weights))[""]
    loss = -logits.log_softmax(-1)[..., 0]
    assert row["value"] == pytest.approx(float(loss[0, 0] + 3 * loss[1, 2]) / 4, rel=1e-6)
    assert row["n"] == 2


def test_no_weight_and_broken_logits_say_why(status, stimulus_of):
    nothing = stimulus_of(2, 4, weights=torch.zeros(2, 4))
    assert status("heldout_loss", "logits", torch.zeros(2, 4, 5), nothing) == "no-target"
    assert status("heldout_loss", "logits", torch.full((2, 4, 5), torch.nan)) == "nonfinite"
