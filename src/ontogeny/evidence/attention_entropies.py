"""Entropy of each head's attention rows."""

from typing import NamedTuple

import torch
from torch import Tensor

from ontogeny.evidence.kinds import View, streamed


class Entropies(NamedTuple):
    """Sum of row entropies by query position in nats [head position], over `sequences` sequences."""

    total: Tensor
    sequences: int


class _AttentionEntropies:
    def init(self, view: View) -> Entropies:
        heads, length = view.tensor.shape[1:3]
        return Entropies(torch.zeros(heads, length, dtype=torch.float64, device=view.tensor.device), 0)

    def update(self, state: Entropies, view: View) -> Entropies:
        rows = torch.special.entr(view.tensor.float()).sum(-1)
        return Entropies(state.total + rows.double().sum(0), state.sequences + len(rows))

    def finish(self, state: Entropies) -> Entropies:
        return state


streamed("attention_entropies", at="attention", make=_AttentionEntropies)
