"""Where whole words begin and end in the rows of a stimulus, and how likely a word was to begin there."""

from typing import NamedTuple

import torch
from torch import Tensor

from ontogeny.evidence.kinds import View, streamed


class WordBounds(NamedTuple):
    """[sequence] each; no entries where tokens are not known to be pieces of text.

    first, last   the tokens that begin the first word and the one after the last whole word of a row; a row
                  without a whole word has `last` ≤ `first`
    words         how many words lie between
    before, after ln of the probability that the token at `first`, and the one at `last`, begins a word
    """

    first: Tensor
    last: Tensor
    words: Tensor
    before: Tensor
    after: Tensor


class _WordBounds:
    def init(self, view: View) -> list[WordBounds]:
        return []

    def update(self, state: list[WordBounds], view: View) -> list[WordBounds]:
        known = None if view.facts is None else view.facts.word_starts()
        tokens = view.stimulus.tokens[view.rows]
        if known is None or tokens.shape[1] < 2 or view.tensor.shape[-1] < len(known):
            return state
        begins = known[tokens]
        begins[:, 0] = False  # nothing predicts the first token of a row
        index = torch.arange(tokens.shape[1])
        first = torch.where(begins, index, len(index)).amin(1)
        last = torch.where(begins, index, 0).amax(1)
        starts = known.nonzero().flatten().to(view.tensor.device)
        mass = [_mass(view.tensor, end.clamp(1, len(index) - 1) - 1, starts) for end in (first, last)]
        state.append(WordBounds(first, last, begins.sum(1) - 1, *mass))
        return state

    def finish(self, state: list[WordBounds]) -> WordBounds:
        if not state:
            return WordBounds(*torch.zeros(5, 0))
        return WordBounds(*(torch.cat(column) for column in zip(*state, strict=True)))


def _mass(logits: Tensor, position: Tensor, starts: Tensor) -> Tensor:
    """ln of what the prediction at a position of each row gives the tokens that begin words."""
    rows = torch.arange(len(logits), device=logits.device)
    here = logits[rows, position.to(logits.device)].double().log_softmax(-1)
    return here.index_select(1, starts).logsumexp(-1).cpu()


streamed("word_bounds", at="logits", make=_WordBounds)
