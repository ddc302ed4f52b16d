"""The loss of every predicted token of a stimulus, kept once; many numbers derive from it."""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from ontogeny.evidence.kinds import View, streamed


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
        logits = view.tensor[:, :-1]
        loss = F.cross_entropy(logits.flatten(0, 1).float(), targets.flatten(), reduction="none")
        weights = view.stimulus.weights[view.rows, :-1]
        state.append(TokenLoss(loss.view(targets.shape).cpu(), weights))
        return state

    def finish(self, state: list[TokenLoss]) -> TokenLoss:
        return TokenLoss(*(torch.cat(column) for column in zip(*state, strict=True)))


streamed("token_loss", at="logits", make=_TokenLoss)
