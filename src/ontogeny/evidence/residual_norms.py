"""Mean length of the vectors of a residual stream, position 0 apart."""

from typing import NamedTuple

import torch
from torch import Tensor

from ontogeny.evidence.kinds import View, streamed


class Norms(NamedTuple):
    """Sums of ‖x‖ over n vectors at positions 1 … and over n_first vectors at position 0."""

    total: Tensor
    n: int
    first: Tensor
    n_first: int


class ByPosition(NamedTuple):
    """Sums of ‖x‖ [position] over `sequences` sequences."""

    total: Tensor
    sequences: int


class _ResidualNorms:
    def init(self, view: View) -> ByPosition:
        length = view.tensor.shape[1]
        return ByPosition(torch.zeros(length, dtype=torch.float64, device=view.tensor.device), 0)

    def update(self, state: ByPosition, view: View) -> ByPosition:
        total = state.total + view.norms.sum(0, dtype=torch.float64)
        return ByPosition(total, state.sequences + len(view.norms))

    def finish(self, state: ByPosition) -> Norms:
        first, rest, n = state.total[0], state.total[1:], state.sequences
        return Norms(rest.sum(), n * len(rest), first, n)


streamed("residual_norms", at="residual", make=_ResidualNorms)
