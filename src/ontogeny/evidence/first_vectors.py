"""The vectors of a residual stream at position 0, which second moments leave out."""

import torch
from torch import Tensor

from ontogeny.evidence.kinds import View, streamed


class _FirstVectors:
    """[sequence feature], as they come."""

    def init(self, view: View) -> list[Tensor]:
        return []

    def update(self, state: list[Tensor], view: View) -> list[Tensor]:
        state.append(view.tensor[:, 0].clone())
        return state

    def finish(self, state: list[Tensor]) -> Tensor:
        return torch.cat(state)


streamed("first_vectors", at="residual", make=_FirstVectors)
