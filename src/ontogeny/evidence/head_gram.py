"""Second moments of what each head hands to the output projection, position 0 left out."""

from typing import NamedTuple

import torch
from torch import Tensor

from ontogeny.evidence.kinds import View, streamed
from ontogeny.evidence.residual_gram import ROUNDING


class HeadGram(NamedTuple):
    """Σ z zᵀ [head channel channel] and Σ z [head channel] in float64 over n vectors a head."""

    outer: Tensor
    total: Tensor
    n: int

    def covariance(self) -> Tensor:
        """Centred, with divisor n − 1 [head channel channel], exactly 0 for channels without spread."""
        mean = self.total / self.n
        centred = self.outer - self.n * mean[:, :, None] * mean[:, None, :]
        squares = self.outer.diagonal(dim1=1, dim2=2)
        constant = centred.diagonal(dim1=1, dim2=2) <= ROUNDING * squares
        return centred.masked_fill(constant[:, :, None] | constant[:, None, :], 0.0) / (self.n - 1)


class _HeadGram:
    def init(self, view: View) -> HeadGram:
        heads, channels = view.tensor.shape[2:]
        zeros = torch.zeros(heads, channels, channels, dtype=torch.float64, device=view.tensor.device)
        return HeadGram(zeros, zeros[:, 0].clone(), 0)

    def update(self, state: HeadGram, view: View) -> HeadGram:
        vectors = view.tensor[:, 1:].double().flatten(0, 1)
        state.outer.baddbmm_(vectors.permute(1, 2, 0), vectors.permute(1, 0, 2))
        state.total.add_(vectors.sum(0))
        return HeadGram(state.outer, state.total, state.n + len(vectors))

    def finish(self, state: HeadGram) -> HeadGram:
        return state


streamed("head_gram", at="head_output", make=_HeadGram)
