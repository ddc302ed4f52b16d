from types import SimpleNamespace

import pytest
import torch

from ontogeny.evidence import EVIDENCE, View
from ontogeny.vocabulary import Place, Stimulus

TOKENS = torch.tensor([[1, 0, 2, 0, 0, 3], [0, 1, 1, 1, 1, 1], [2, 2, 2, 2, 0, 2]])


def reduced(logits, starts, batch=10):
    stimulus = Stimulus("heldout", TOKENS, torch.ones(TOKENS.shape))
    reducer, state = EVIDENCE["word_bounds"]["logits"].make(), None
    for first in range(0, len(logits), batch):
        rows = slice(first, min(first + batch, len(logits)))
        view = View(logits[rows], stimulus, rows, Place(), SimpleNamespace(word_starts=lambda: starts))
        state = reducer.update(reducer.init(view) if state is None else state, view)
    return reducer.finish(state)


@pytest.mark.parametrize("batch", [1, 2, 10])
def test_bounds_and_the_chance_of_a_word_at_each(batch):
    logits = torch.randn(3, 6, 4, generator=torch.Generator().manual_seed(0))
    found = reduced(logits, torch.tensor([True, False, False, False]), batch)
    assert found.first[0] == 1
    assert found.last[0] == 4
    assert found.words[0] == 2  # tokens 1, 2 and token 3
    chance = logits.log_softmax(-1)[0, :, 0]
    assert float(found.before[0]) == pytest.approx(float(chance[0]), abs=1e-6)
    assert float(found.after[0]) == pytest.approx(float(chance[3]), abs=1e-6)
    assert (found.last[1:] <= found.first[1:]).all()  # the first token of a row begins no word that counts


def test_without_text_there_are_none():
    assert len(reduced(torch.zeros(3, 6, 4), None).first) == 0
