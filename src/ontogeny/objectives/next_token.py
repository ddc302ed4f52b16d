"""Language modelling on a token stream."""

from collections.abc import Callable
from typing import Self

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from ontogeny.catalogue import Batch, objective
from ontogeny.errors import BadSource
from ontogeny.objectives._prediction import check_counts, prediction_losses, rows_and_weights
from ontogeny.sources import TokenSource
from ontogeny.vocabulary import Draw, Losses, TrainingState


@objective(source="Radford et al. 2019; rows cut as in nanoGPT")
class next_token:
    """Predict each token of a text from those before it.

    A draw is `batch` starts, uniform over the training stream; a row is the context + 1 tokens from there,
    across documents where they meet. Every prediction has weight 1, in nats. BadSource if either stream is
    shorter than one row.
    Known: a model that knows nothing but how often tokens occur has the entropy of their counts.
    Misleads: rows overlap and are drawn with replacement, so no step is the end of an epoch.
    """

    state_free = True

    def __init__(self, corpus: TokenSource, *, batch: int = 16, context: int = 64) -> None:
        check_counts(batch=batch, context=context)
        self.corpus, self.rows, self.context = corpus, batch, context
        self.vocabulary = corpus.vocabulary
        for name, stream in (("training", corpus.train), ("held-out", corpus.heldout)):
            if len(stream) < context + 1:
                raise BadSource(
                    f"the {name} part of {corpus.name} is shorter than one row",
                    received=f"{len(stream)} tokens",
                    allowed=f"at least {context + 1} tokens (objective.context + 1)",
                    remedy="give more text or a shorter context",
                )

    def draw(self, step: int, rng: torch.Generator) -> Draw:
        """Where the rows start [sequence]."""
        return Draw(torch.randint(len(self.corpus.train) - self.context, (self.rows,), generator=rng))

    def batch(self, draw: Draw, state: TrainingState, rng: torch.Generator) -> Batch:
        """`tokens` [sequence, context + 1]."""
        places = draw.items.numpy()[:, None] + np.arange(self.context + 1)
        return {"tokens": torch.from_numpy(self.corpus.train[places].astype(np.int64))}

    def loss(self, model: Callable[[Tensor], Tensor], batch: Batch) -> Losses:
        return prediction_losses(model, batch["tokens"])

    def facts(self) -> Self:
        return self

    def heldout(
        self, sequences: int, length: int
    ) -> tuple[Int[Tensor, "sequence token"], Float[Tensor, "sequence token"]]:
        """Windows of the held-out stream that do not overlap, evenly spaced from its start.

        BadSource if it has not that many.
        """
        stream = self.corpus.heldout
        if sequences * length > len(stream):
            raise BadSource(
                f"the held-out part of {self.corpus.name} is too short",
                received=f"{len(stream)} tokens: {len(stream) // length} rows of {length}",
                allowed=f"{sequences} rows of {length}: {sequences * length} tokens",
                remedy="ask for fewer or shorter rows, or give more text",
            )
        starts = np.arange(sequences) * len(stream) // max(sequences, 1)
        windows = stream[starts[:, None] + np.arange(length)].astype(np.int64)
        return rows_and_weights(torch.from_numpy(windows))

    def token_counts(self) -> Int[Tensor, "vocabulary"]:
        return torch.from_numpy(self.corpus.counts)

    def fixed_lags(self) -> frozenset[int]:
        return frozenset()

    def beginning(self) -> int | None:
        return self.corpus.bos

    def text(self, tokens: Tensor) -> str:
        return self.corpus.text(tokens)
