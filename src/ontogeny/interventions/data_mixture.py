"""The sources of the data in other proportions."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from ontogeny.catalogue import intervention
from ontogeny.errors import BadContract
from ontogeny.interventions._acting import Acting, check
from ontogeny.sources import Mixture, TokenSource
from ontogeny.vocabulary import Draw, Streams

#: Keeps the offset inside a start's own place away from its edges, where rounding could move it over.
MARGIN = 1e-3


@intervention(source="ours; practice of OLMo 2, 2501.00656")
class data_mixture(Acting):
    """Rows come from the sources of the training data with chances `weights` inside the window.

    Sources are the recipe's corpora (`[[corpus]]`, in their order), else consecutive parts of its one stream:
    `cuts` are the shares of it at which one ends and the next begins, equal parts unless said otherwise.
    Outside the window their chances are the recipe's weights, of parts their sizes; with `ramp` the chances
    go from there to `weights` linearly, up to the window's end. Of corpora a row keeps the place and the
    chance it was drawn with, and is another one only if that chance now falls to another source. Of parts,
    the start s, as the quantile (s + r) / starts with r uniform from `seed`, goes through the inverse
    distribution of the mixture. `rows` and `tokens` count what each source gave inside the window; a row
    counts for the source in which it starts. Optimizer state: untouched.
    BadContract for an objective whose draws are not rows of a text (those of next_token are).
    Known: weights equal to those outside change no bit; the shares of rows are those of a multinomial.
    Misleads: held-out rows and token counts stay those of the recipe, which no weights enter.
    """

    extent = frozenset({"draw"})

    def __init__(
        self,
        *,
        weights: Sequence[float] = (0.25, 0.75),
        cuts: Sequence[float] | None = None,
        ramp: bool = False,
        seed: int = 0,
    ) -> None:
        super().__init__()
        count = len(weights)
        edges = [0.0, *(cuts or ()), 1.0]
        fine = all(a < b for a, b in pairwise(edges)) and (cuts is None or count == len(cuts) + 1)
        fine = fine and all(weight >= 0 for weight in weights) and sum(weights) > 0
        allowed = "weights from 0, one for each source; rising cuts between 0 and 1, one fewer"
        check("data_mixture", fine, allowed, cuts=cuts, weights=weights)
        self.weights, self.ramp, self.seed = tuple(weights), ramp, seed
        self.cuts = None if cuts is None else tuple(cuts)
        self.rows = [0] * count
        self.tokens = [0] * count

    def on_draw(self, draw: Draw, step: int) -> Draw:
        objective = self.drawing.objective
        corpus = getattr(objective, "corpus", None)
        if isinstance(corpus, Mixture):
            moved, given = self._of_corpora(draw.items, corpus, step)
        elif isinstance(corpus, TokenSource) and draw.items.ndim == 1:
            moved, given = self._of_parts(draw.items, len(corpus.train) - objective.context, step)
        else:
            raise BadContract(
                "data_mixture needs draws that are rows of a text",
                received=type(objective).__name__,
                allowed="objectives like next_token",
            )
        for number, count in enumerate(given):
            self.rows[number] += count
            self.tokens[number] += count * objective.context
        return Draw(moved)

    def _of_corpora(self, items: Tensor, corpus: Mixture, step: int) -> tuple[Tensor, list[int]]:
        """The rows after the mixture, and how many each corpus gave."""
        there = f"one weight for each of {', '.join(corpus.names)}, and no cuts"
        fits = self.cuts is None and len(self.weights) == len(corpus.weights)
        check("data_mixture", fits, there, weights=self.weights, cuts=self.cuts)
        moved = corpus.reweighted(items, self._weights(corpus.weights, step))
        return moved, corpus.rows_of(moved)

    def _of_parts(self, starts: Tensor, count: int, step: int) -> tuple[Tensor, list[int]]:
        """Starts after the mixture, and how many each part of the stream gave."""
        parts = len(self.weights)
        cuts = [number / parts for number in range(1, parts)] if self.cuts is None else self.cuts
        edges = torch.tensor([0, *(round(cut * count) for cut in cuts), count])
        check("data_mixture", bool((edges.diff() > 0).all()), f"cuts that part {count} starts", cuts=cuts)
        sizes = edges.diff().double() / count
        weights = torch.tensor(self._weights(sizes.tolist(), step), dtype=torch.float64)
        rng = Streams(self.seed).generator("intervention", step, f"data_mixture/{self.drawing.place}")
        offset = torch.rand(starts.shape, generator=rng, dtype=torch.float64) * (1 - 2 * MARGIN) + MARGIN
        quantile = (starts + offset) / count
        above = weights.cumsum(0)
        source = torch.searchsorted(above, quantile, right=True).clamp(max=int(weights.nonzero().max()))
        inside = (quantile - (above - weights)[source]) / weights[source]
        place = (inside * edges.diff()[source]).floor().long()
        moved = edges[source] + place.clamp(torch.zeros_like(place), edges.diff()[source] - 1)
        return moved, torch.bincount(source, minlength=parts).tolist()

    def _weights(self, outside: Sequence[float], step: int) -> list[float]:
        """The chances at a step, given those outside the window."""
        total = sum(self.weights)
        wanted = [weight / total for weight in self.weights]
        wanted = list(outside) if self.inert else wanted
        if not self.ramp:
            return wanted
        end = self.drawing.steps if self.window.end is None else self.window.end
        done = (step - self.window.start) / max(1, end - self.window.start)
        return [old + done * (new - old) for new, old in zip(wanted, outside, strict=True)]

    def state_dict(self) -> dict[str, Any]:
        return {"rows": self.rows, "tokens": self.tokens}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.rows, self.tokens = list(state["rows"]), list(state["tokens"])
