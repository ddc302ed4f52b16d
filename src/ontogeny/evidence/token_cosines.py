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


class Means(NamedTuple):
    """Mean pairwise cosines summed over sequences, without and with position 0 [2]; the rest as above."""

    summed: Tensor
    sequences: int
    length: int
    zeros: Tensor


def mean_pairwise(total: Tensor, count: Tensor | int) -> Tensor:
    """(‖Σ x̂‖² − T) / (T (T − 1)) for sums of T unit vectors [… sequence feature]."""
    return (total.double().square().sum(-1) - count) / (count * (count - 1))


class _TokenCosines:
    def init(self, view: View) -> Means:
        zeros = torch.zeros(2, dtype=torch.float64, device=view.tensor.device)
        return Means(zeros, 0, view.tensor.shape[1], zeros[0])

    def update(self, state: Means, view: View) -> Means:
        inverse = view.norms.clamp_min(torch.finfo(torch.float32).tiny).reciprocal()
        total = (inverse[:, None] @ view.tensor.float())[:, 0]
        first = view.tensor[:, 0].float() * inverse[:, :1]
        both = torch.stack([total - first, total])
        counts = torch.tensor([[state.length - 1], [state.length]], device=both.device)
        summed = state.summed + mean_pairwise(both, counts).sum(1)
        return state._replace(
            summed=summed,
            sequences=state.sequences + len(total),
            zeros=state.zeros + (view.norms == 0).sum(),
        )

    def finish(self, state: Means) -> Cosines:
        without_first, with_first = state.summed
        return Cosines(without_first, with_first, state.sequences, state.length, state.zeros)


streamed("token_cosines", at="residual", make=_TokenCosines)
