"""TOK-01, its array."""

import math

import pytest
import torch

from ontogeny.evidence.token_loss import TokenLoss
from ontogeny.instruments.token_loss import token_loss
from ontogeny.vocabulary import Status


def test_a_uniform_model_loses_the_log_of_its_vocabulary_everywhere(read):
    (row,) = read("token_loss", "logits", torch.zeros(2, 4, 50257))[""]
    assert row["value"] == pytest.approx(10.825, abs=5e-4)
    assert row["value"] / math.log(2) == pytest.approx(15.617, abs=5e-4)
    assert row["array"]
    assert row["n"] == 6


def test_every_prediction_is_kept_where_it_was_made():
    losses, weights = torch.arange(6.0).view(2, 3), torch.tensor([[1.0, 0, 2], [1, 1, 1]])
    reading = token_loss(TokenLoss(losses, weights))
    assert reading.array.shape == (2, 3)
    assert reading.array.isnan().tolist() == [[False, True, False], [False, False, False]]
    assert reading.array[weights > 0].tolist() == [0, 2, 3, 4, 5]
    assert float(reading.value) == pytest.approx(14 / 5)
    assert losses[0, 1] == 1  # what others read is left alone


def test_one_broken_prediction_keeps_the_others():
    losses = torch.tensor([[1.0, torch.nan, 3.0]])
    reading = token_loss(TokenLoss(losses, torch.ones(1, 3)))
    assert math.isnan(float(reading.value))
    assert reading.array[0, [0, 2]].tolist() == [1, 3]


def test_nothing_to_read_says_why():
    assert token_loss(TokenLoss(torch.ones(1, 3), torch.zeros(1, 3))).status is Status.NO_TARGET
    broken = token_loss(TokenLoss(torch.full((1, 3), torch.nan), torch.ones(1, 3)))
    assert broken.status is Status.NONFINITE
    assert broken.array is None
