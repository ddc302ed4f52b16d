"""Second moments of a residual stream, position 0 left out (its norm can dominate everything)."""

from typing import NamedTuple

import torch
from torch import Tensor

from ontogeny.evidence.kinds import View, streamed

#: Below this share of the moment it is the difference of, a variance is rounding.
ROUNDING = 1e-13

STRIPES = 4


class Gram(NamedTuple):
    """Σ x xᵀ [feature feature] and Σ x [feature] in float64 over n vectors."""

    outer: Tensor
    total: Tensor
    n: int

    def covariance(self) -> Tensor:
        """Centred covariance with divisor n − 1 [feature feature], exactly 0 for features without spread."""
        mean = self.total / self.n
        centred = self.outer - self.n * torch.outer(mean, mean)
        constant = centred.diagonal() <= ROUNDING * self.outer.diagonal()
        centred[constant, :] = centred[:, constant] = 0
        return centred / (self.n - 1)


class _ResidualGram:
    """Keeps the upper triangle of Σ x xᵀ, in stripes: five eighths of the products that the whole takes."""

    def init(self, view: View) -> Gram:
        width = view.tensor.shape[-1]
        zeros = torch.zeros(width, width, dtype=torch.float64, device=view.tensor.device)
        return Gram(zeros, zeros[0].clone(), 0)

    def update(self, state: Gram, view: View) -> Gram:
        vectors = view.tensor[:, 1:].double().flatten(0, 1)
        height = -(-vectors.shape[1] // STRIPES)
        for top in range(0, vectors.shape[1], height):
            stripe = slice(top, top + height)
            state.outer[stripe, top:].addmm_(vectors[:, stripe].T, vectors[:, top:])
        state.total.add_(vectors.sum(0))
        return Gram(state.outer, state.total, state.n + len(vectors))

    def finish(self, state: Gram) -> Gram:
        return state._replace(outer=state.outer.triu() + state.outer.triu(1).T)


streamed("residual_gram", at="residual", make=_ResidualGram)
