"""A text's parts in other proportions."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from ontogeny.catalogue import intervention
from ontogeny.errors import BadContract
from ontogeny.interventions._acting import Acting, check
from ontogeny.vocabulary import Draw, Streams

#: Keeps the offset inside a start's own place away from its edges, where rounding could move it over.
MARGIN = 1e-3


@intervention(source="ours; practice of OLMo 2, 2501.00656")
class data_mixture(Acting):
    """Rows start in the parts of the training stream with chances `weights` inside the window.

    Sources are consecutive parts of the stream: `cuts` are the shares of it at which one ends and the next
    begins. Outside the window their chances are their sizes; with `ramp` the chances go from there to
    `weights` linearly, up to the window's end. The start s of a row, as the quantile (s + r) / starts with r
    uniform from `seed`, goes through the inverse distribution of the mixture; where the weights are the
    sizes, that gives s. `rows` and `tokens` count what each source gave; a row counts for the source in which
    it starts. Optimizer state: untouched.
    BadContract for an objective whose draws are not starts in one text (next_token has such).
    Known: weights equal to the sizes change no bit; the shares of rows are those of a multinomial.
    Misleads: sources of one stream share its tokenizer, its held-out part and its token counts.
    """

    extent = frozenset({"draw"})

    def __init__(
        self,
        *,
        cuts: Sequence[float] = (0.5,),
        weights: Sequence[float] = (0.25, 0.75),
        ramp: bool = False,
        seed: int = 0,
    ) -> None:
        super().__init__()
        edges = [0.0, *cuts, 1.0]
        fine = all(a < b for a, b in pairwise(edges)) and len(weights) == len(cuts) + 1
        fine = fine and all(weight >= 0 for weight in weights) and sum(weights) > 0
        allowed = "rising cuts between 0 and 1, and one weight from 0 for each part"
        check("data_mixture", fine, allowed, cuts=cuts, weights=weights)
        self.cuts, self.weights, self.ramp, self.seed = tuple(cuts), tuple(weights), ramp, seed
        self.rows = [0] * len(weights)
        self.tokens = [0] * len(weights)

    def on_draw(self, draw: Draw, step: int) -> Draw:
        objective = self.drawing.objective
        if not hasattr(objective, "corpus") or draw.items.ndim != 1:
            raise BadContract(
                "data_mixture needs draws that are starts in one text",
                received=type(objective).__name__,
                allowed="objectives like next_token",
            )
        starts = len(objective.corpus.train) - objective.context
        edges = torch.tensor([0, *(round(cut * starts) for cut in self.cuts), starts])
        check(
            "data_mixture", bool((edges.diff() > 0).all()), f"cuts that part {starts} starts", cuts=self.cuts
        )
        moved, source = self._moved(draw.items, edges, step)
        for number, count in enumerate(torch.bincount(source, minlength=len(self.rows)).tolist()):
            self.rows[number] += count
            self.tokens[number] += count * objective.context
        return Draw(moved)

    def _moved(self, starts: Tensor, edges: Tensor, step: int) -> tuple[Tensor, Tensor]:
        """Starts after the mixture, and the source of each."""
        sizes = edges.diff().double() / edges[-1]
        weights = self._weights(sizes, step)
        rng = Streams(self.seed).generator("intervention", step, f"data_mixture/{self.drawing.place}")
        offset = torch.rand(starts.shape, generator=rng, dtype=torch.float64) * (1 - 2 * MARGIN) + MARGIN
        quantile = (starts + offset) / edges[-1]
        above = weights.cumsum(0)
        source = torch.searchsorted(above, quantile, right=True).clamp(max=int(weights.nonzero().max()))
        inside = (quantile - (above - weights)[source]) / weights[source]
        place = (inside * edges.diff()[source]).floor().long()
        return edges[source] + place.clamp(torch.zeros_like(place), edges.diff()[source] - 1), source

    def _weights(self, sizes: Tensor, step: int) -> Tensor:
        wanted = torch.tensor(self.weights, dtype=torch.float64)
        wanted = sizes if self.inert else wanted / wanted.sum()
        if not self.ramp:
            return wanted
        end = self.drawing.steps if self.window.end is None else self.window.end
        done = (step - self.window.start) / max(1, end - self.window.start)
        return done * wanted + (1 - done) * sizes

    def state_dict(self) -> dict[str, Any]:
        return {"rows": self.rows, "tokens": self.tokens}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.rows, self.tokens = list(state["rows"]), list(state["tokens"])
