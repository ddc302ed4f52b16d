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


class _ResidualNorms:
    def init(self, view: View) -> Norms:
        zero = torch.zeros((), dtype=torch.float64, device=view.tensor.device)
        return Norms(zero, 0, zero, 0)

    def update(self, state: Norms, view: View) -> Norms:
        norms = view.norms.double()
        return Norms(
            state.total + norms[:, 1:].sum(),
            state.n + norms[:, 1:].numel(),
            state.first + norms[:, 0].sum(),
            state.n_first + len(norms),
        )

    def finish(self, state: Norms) -> Norms:
        return state


streamed("residual_norms", at="residual", make=_ResidualNorms)
