"""The shared convention: inputs are all but the last token, targets all but the first."""

import math

import pytest
import torch

from ontogeny.errors import BadRecipe
from ontogeny.objectives._prediction import check_counts, prediction_losses, rows_and_weights


class Recorded(torch.nn.Module):
    """Gives one table of logits and keeps what it was shown."""

    def __init__(self, logits):
        super().__init__()
        self.logits, self.seen = logits, None

    def forward(self, tokens):
        self.seen = tokens
        return self.logits


def test_losses_are_nats_of_the_next_token():
    tokens = torch.tensor([[0, 2, 1]])
    model = Recorded(torch.tensor([[[0.2, 0.3, 0.5], [0.1, 0.6, 0.3]]]).log())
    losses = prediction_losses(model, tokens)
    assert model.seen.tolist() == [[0, 2]]
    torch.testing.assert_close(losses.values, torch.tensor([[0.5, 0.6]]).log().neg())
    assert losses.weights.tolist() == [[1, 1]]


def test_losses_are_float32_under_half_precision_logits():
    losses = prediction_losses(Recorded(torch.zeros(1, 2, 8, dtype=torch.bfloat16)), torch.zeros(1, 3).long())
    assert losses.values.dtype == torch.float32
    torch.testing.assert_close(losses.values, torch.full((1, 2), math.log(8)))


def test_no_target_means_no_weight():
    losses = prediction_losses(Recorded(torch.zeros(1, 2, 8)), torch.zeros(1, 3).long(), torch.zeros(1, 2))
    assert losses.total_weight == 0
    assert losses.values.isfinite().all()


def test_the_last_token_of_a_held_out_row_has_no_prediction():
    tokens = torch.arange(6).view(2, 3)
    assert rows_and_weights(tokens)[1].tolist() == [[1, 1, 0], [1, 1, 0]]
    given = torch.tensor([[0.0, 1.0], [0.5, 0.0]])
    assert rows_and_weights(tokens, given)[1].tolist() == [[0, 1, 0], [0.5, 0, 0]]


@pytest.mark.parametrize("count", [0, -1, 2.0, True, "3"])
def test_counts_are_integers_from_one(count):
    check_counts(batch=1)
    with pytest.raises(BadRecipe, match=r"objective\.batch"):
        check_counts(batch=count)
