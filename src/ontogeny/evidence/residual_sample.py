"""A fixed choice of vectors of a residual stream, the same tokens at every checkpoint."""

from functools import lru_cache

import torch
from torch import Tensor

from ontogeny.evidence.kinds import View, streamed

#: Ten for each of 128 features, as canonical correlations need; five batches of CKA.
ROWS = 1280


def chosen_positions(sequences: int, length: int, rows: int = ROWS) -> Tensor:
    """Flat indices of the vectors kept: evenly spread over the stimulus, position 0 left out."""
    eligible = torch.arange(sequences * length).view(sequences, length)[:, 1:].flatten()
    step = torch.arange(min(rows, len(eligible))) * len(eligible) // min(rows, len(eligible))
    return eligible[step]


@lru_cache(maxsize=64)
def _within(sequences: int, length: int, rows: int, first: int, last: int) -> Tensor:
    """Those of the chosen vectors that lie in sequences first … last − 1, counted from there."""
    chosen = chosen_positions(sequences, length, rows)
    start, stop = torch.searchsorted(chosen, torch.tensor([first * length, last * length])).tolist()
    return chosen[start:stop] - first * length


class ResidualSample:
    """Vectors, or several a token, at the chosen positions: [item …] in float32."""

    def rows(self, width: int) -> int:
        """How many vectors of a width are kept."""
        return ROWS

    def init(self, view: View) -> list[Tensor]:
        return []

    def update(self, state: list[Tensor], view: View) -> list[Tensor]:
        rows = self.rows(view.tensor.shape[-1])
        here = _within(*view.stimulus.shape, rows, view.rows.start, view.rows.stop).to(view.tensor.device)
        state.append(view.tensor.flatten(0, 1).index_select(0, here).float())
        return state

    def finish(self, state: list[Tensor]) -> Tensor:
        return torch.cat(state)


streamed("residual_sample", at="residual", make=ResidualSample)
