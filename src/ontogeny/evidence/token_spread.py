"""How far the vectors of one sequence are from their common mean, as a share of their length."""

from typing import NamedTuple

import torch
from torch import Tensor

from ontogeny.evidence.kinds import View, streamed


class Spread(NamedTuple):
    """Σ over sequences of ‖X − 1x̄ᵀ‖ / ‖X‖ (Frobenius), without and with position 0 [2]; sequences that are
    zero throughout, without position 0."""

    summed: Tensor
    sequences: int
    length: int
    zeros: Tensor


class _TokenSpread:
    """Distances are taken from the mean itself: as a difference of sums they would end at 3e-4 in float32."""

    def init(self, view: View) -> Spread:
        zeros = torch.zeros(2, dtype=torch.float64, device=view.tensor.device)
        return Spread(zeros, 0, view.tensor.shape[1], zeros[0])

    def update(self, state: Spread, view: View) -> Spread:
        stream, lengths = view.tensor.float(), view.norms.double().square()
        rest = stream[:, 1:]
        mean = rest.mean(1, keepdim=True)
        apart = (rest - mean).square_().sum((1, 2)).double()
        whole = lengths[:, 1:].sum(1)
        # What one vector more adds to the squared distances from the mean.
        first = (stream[:, 0] - mean[:, 0]).double().square().sum(1) * (state.length - 1) / state.length
        shares = torch.stack([apart / whole, (apart + first) / (whole + lengths[:, 0])])
        return state._replace(
            summed=state.summed + shares.sqrt().sum(1),
            sequences=state.sequences + len(stream),
            zeros=state.zeros + (whole == 0).sum(),
        )

    def finish(self, state: Spread) -> Spread:
        return state


streamed("token_spread", at="residual", make=_TokenSpread)
