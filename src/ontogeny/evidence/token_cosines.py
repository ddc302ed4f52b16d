"""How alike the vectors of one sequence are: the mean off-diagonal cosine, without forming the pairs."""

from typing import NamedTuple

import torch
from torch import Tensor

from ontogeny.evidence.kinds import View, streamed


class Cosines(NamedTuple):
    """Sums over sequences of the mean pairwise cosine, without and with position 0; how many null vectors."""

    without_first: Tensor
    with_first: Tensor
    sequences: int
    length: int
    zeros: Tensor


def mean_pairwise(total: Tensor, count: int) -> Tensor:
    """(‖Σ x̂‖² − T) / (T (T − 1)) for sums of T unit vectors [sequence feature]."""
    return (total.double().square().sum(-1) - count) / (count * (count - 1))


class _TokenCosines:
    def init(self, view: View) -> Cosines:
        zero = torch.zeros((), dtype=torch.float64, device=view.tensor.device)
        return Cosines(zero, zero, 0, view.tensor.shape[1], zero)

    def update(self, state: Cosines, view: View) -> Cosines:
        inverse = view.norms.clamp_min(torch.finfo(torch.float32).tiny).reciprocal()
        total = (inverse[:, None] @ view.tensor.float())[:, 0]
        first = view.tensor[:, 0].float() * inverse[:, :1]
        length = view.tensor.shape[1]
        return Cosines(
            state.without_first + mean_pairwise(total - first, length - 1).sum(),
            state.with_first + mean_pairwise(total, length).sum(),
            state.sequences + len(total),
            length,
            state.zeros + (view.norms == 0).sum(),
        )

    def finish(self, state: Cosines) -> Cosines:
        return state


streamed("token_cosines", at="residual", make=_TokenCosines)
