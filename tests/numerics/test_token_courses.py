import numpy as np
import pytest
import torch

from ontogeny.numerics.token_courses import by_token, finite_steps
from ontogeny.vocabulary import Stimulus

TOKENS = torch.tensor([[0, 1, 2, 1], [2, 2, 1, 0]])
WEIGHTS = torch.tensor([[1.0, 1, 1, 0], [1, 0, 1, 0]])


def test_losses_are_averaged_by_what_was_predicted():
    stimulus = Stimulus("heldout", TOKENS, WEIGHTS)
    losses = [torch.tensor([[1.0, 2, 3], [4, torch.nan, 6]]), torch.zeros(2, 3)]
    found = by_token(stimulus, losses, least=1, most=10)
    assert found.token.tolist() == [0, 1, 2]
    assert found.times.tolist() == [1, 2, 2]
    assert found.loss[:, 0].tolist() == [6, 2, 3]
    assert found.loss[:, 1].tolist() == [0, 0, 0]


def test_rare_tokens_are_left_out_and_the_most_frequent_kept():
    stimulus = Stimulus("heldout", TOKENS, WEIGHTS)
    assert by_token(stimulus, [torch.zeros(2, 3)], least=2, most=10).token.tolist() == [1, 2]
    assert by_token(stimulus, [torch.zeros(2, 3)], least=1, most=1).token.tolist() == [1]


def test_nothing_to_predict_is_nothing():
    stimulus = Stimulus("heldout", TOKENS, torch.zeros(2, 4))
    assert not len(by_token(stimulus, [torch.zeros(2, 3)], 1, 10).token)


def test_step_zero_and_broken_checkpoints_are_left_out():
    curves = np.array([[9.0, 8, np.nan, 6], [9, np.nan, np.nan, 5]])
    steps, kept = finite_steps(np.array([0, 1, 2, 4]), curves)
    assert steps.tolist() == [1, 4]
    assert kept[0] == pytest.approx([8, 6])
