"""Second moments of a residual stream, position 0 left out (its norm can dominate everything)."""

from typing import NamedTuple

import torch
from torch import Tensor

from ontogeny.evidence.kinds import View, streamed


class Gram(NamedTuple):
    """Σ x xᵀ [feature feature] and Σ x [feature] in float64 over n vectors."""

    outer: Tensor
    total: Tensor
    n: int

    def covariance(self) -> Tensor:
        """Centred covariance with divisor n − 1 [feature feature]."""
        mean = self.total / self.n
        return (self.outer - self.n * torch.outer(mean, mean)) / (self.n - 1)


class _ResidualGram:
    def init(self, view: View) -> Gram:
        width = view.tensor.shape[-1]
        zeros = torch.zeros(width, width, dtype=torch.float64, device=view.tensor.device)
        return Gram(zeros, zeros[0].clone(), 0)

    def update(self, state: Gram, view: View) -> Gram:
        vectors = view.tensor[:, 1:].flatten(0, 1).double()
        state.outer.addmm_(vectors.T, vectors)
        state.total.add_(vectors.sum(0))
        return Gram(state.outer, state.total, state.n + len(vectors))

    def finish(self, state: Gram) -> Gram:
        return state


streamed("residual_gram", at="residual", make=_ResidualGram)
