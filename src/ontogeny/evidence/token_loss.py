"""The loss of every predicted token of a stimulus, kept once; many numbers derive from it."""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from ontogeny.evidence.kinds import View, streamed

#: Logits turned into losses at once (16 MiB in float32): a copy of all those of a large vocabulary would
#: take as much memory again as the model's output.
CHUNK = 1 << 22


class TokenLoss(NamedTuple):
    """Cross-entropy in nats of predicting token t + 1 from position t, and its weight
    [sequence position − 1]."""

    loss: Tensor
    weights: Tensor


class _TokenLoss:
    def init(self, view: View) -> list[TokenLoss]:
        return []

    def update(self, state: list[TokenLoss], view: View) -> list[TokenLoss]:
        targets = view.stimulus.tokens[view.rows, 1:].to(view.tensor.device)
        loss = torch.empty(targets.shape, device=view.tensor.device)
        for part in _parts(len(targets), targets.shape[1], view.tensor.shape[-1]):
            logits, wanted = view.tensor[part].flatten(0, 1).float(), targets[part]
            loss[part] = F.cross_entropy(logits, wanted.flatten(), reduction="none").view(wanted.shape)
        weights = view.stimulus.weights[view.rows, :-1]
        state.append(TokenLoss(loss.cpu(), weights))
        return state

    def finish(self, state: list[TokenLoss]) -> TokenLoss:
        return TokenLoss(*(torch.cat(column) for column in zip(*state, strict=True)))


def _parts(sequences: int, length: int, vocabulary: int) -> Iterator[tuple[slice, slice]]:
    """Whole sequences, as many as fit a chunk; where not even one does, positions of one."""
    positions = min(max(CHUNK // vocabulary, 1), length)
    rows = max(CHUNK // (vocabulary * max(length, 1)), 1)
    for row in range(0, sequences, rows):
        for start in range(0, length, max(positions, 1)):
            yield slice(row, row + rows), slice(start, min(start + positions, length))


streamed("token_loss", at="logits", make=_TokenLoss)
