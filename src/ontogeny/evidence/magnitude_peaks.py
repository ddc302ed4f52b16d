"""The largest entries of a residual stream against its median entry, over the first sequences."""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from ontogeny.evidence.kinds import View, streamed

SEQUENCES = 10
#: An entry is massive if it exceeds the first, and the second times the median (Sun et al. 2402.17762).
LARGE, MANIFOLD = 100.0, 1000.0


class Peaks(NamedTuple):
    """Of each of the first sequences: its three largest magnitudes, their flat place, and the median."""

    top: Tensor
    place: Tensor
    median: Tensor
    width: int

    def massive(self) -> Tensor:
        """Which of the largest entries are massive activations [sequence 3]."""
        return (self.top > LARGE) & self.standing_out()

    def standing_out(self) -> Tensor:
        """Which of the largest entries keep the rule of the ratio alone [sequence 3]."""
        return self.top.double() >= MANIFOLD * self.median.double()[:, None]

    def massive_dimensions(self) -> list[int]:
        """The features that hold them."""
        return (self.place[self.massive()] % self.width).unique().tolist()


def _lower_median(sizes: Tensor) -> Tensor:
    """What `sizes.median(1).values` is, by numpy's vectorised selection; NaN where any entry is."""
    middle = (sizes.shape[1] - 1) // 2
    chosen = np.partition(sizes.cpu().numpy(), middle, axis=1)[:, middle]
    return torch.from_numpy(chosen).to(sizes.device).where(~sizes.isnan().any(1), torch.nan)


class _MagnitudePeaks:
    def init(self, view: View) -> list[Peaks]:
        return []

    def update(self, state: list[Peaks], view: View) -> list[Peaks]:
        wanted = max(0, min(SEQUENCES, view.rows.stop) - view.rows.start)
        if wanted:
            sizes = view.tensor[:wanted].float().abs().flatten(1)
            top = sizes.topk(min(3, sizes.shape[1]), dim=1)
            state.append(Peaks(top.values, top.indices, _lower_median(sizes), view.tensor.shape[-1]))
        return state

    def finish(self, state: list[Peaks]) -> Peaks:
        tops, places, medians, widths = zip(*state, strict=True)
        return Peaks(torch.cat(tops), torch.cat(places), torch.cat(medians), widths[0])


streamed("magnitude_peaks", at="residual", make=_MagnitudePeaks)
