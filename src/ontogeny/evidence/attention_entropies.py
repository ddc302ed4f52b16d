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
        pattern = view.tensor.float()
        # torch.special.entr is scalar code; log is not. A weight of 0 counts 0 · log tiny = 0.
        rows = -pattern.clamp_min(torch.finfo(torch.float32).tiny).log_().mul_(pattern).sum(-1)
        return Entropies(state.total + rows.double().sum(0), state.sequences + len(rows))

    def finish(self, state: Entropies) -> Entropies:
        return state


streamed("attention_entropies", at="attention", make=_AttentionEntropies)
