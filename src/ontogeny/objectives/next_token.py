"""Language modelling on a token stream."""

from collections.abc import Callable
from typing import Self

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from ontogeny.catalogue import Batch, objective
from ontogeny.objectives._prediction import check_counts, prediction_losses, rows_and_weights
from ontogeny.sources import CorpusStatistics, Mixture, TokenSource
from ontogeny.vocabulary import Draw, Losses, TrainingState


@objective(source="Radford et al. 2019; rows cut as in nanoGPT")
class next_token:
    """Predict each token of a text from those before it.

    A draw is `batch` starts, uniform over the training stream; a row is the context + 1 tokens from there,
    across documents where they meet. Of several corpora, each row's source is drawn first, by their weights.
    Every prediction has weight 1, in nats. BadSource if a stream is shorter than one row.
    Known: a model that knows nothing but how often tokens occur has the entropy of their counts.
    Misleads: rows overlap and are drawn with replacement, so no step is the end of an epoch.
    """

    state_free = True
    #: A recipe may give it several corpora.
    mixes = True

    def __init__(self, corpus: TokenSource | Mixture, *, batch: int = 16, context: int = 64) -> None:
        check_counts(batch=batch, context=context)
        self.corpus, self.rows, self.context = corpus, batch, context
        self.vocabulary = corpus.vocabulary
        corpus.require_rows(context + 1)

    def draw(self, step: int, rng: torch.Generator) -> Draw:
        """Where the rows start [sequence]; of a mixture, see Mixture.draw [sequence, 3]."""
        return Draw(self.corpus.draw(self.rows, self.context + 1, rng))

    def batch(self, draw: Draw, state: TrainingState, rng: torch.Generator) -> Batch:
        """`tokens` [sequence, context + 1]."""
        return {"tokens": self.corpus.windows(draw.items, self.context + 1)}

    def loss(self, model: Callable[[Tensor], Tensor], batch: Batch) -> Losses:
        return prediction_losses(model, batch["tokens"])

    def facts(self) -> Self:
        return self

    def heldout(
        self, sequences: int, length: int
    ) -> tuple[Int[Tensor, "sequence token"], Float[Tensor, "sequence token"]]:
        """Windows of the held-out stream that do not overlap, evenly spaced from its start; of a mixture,
        equally many of each source, whatever their weights. BadSource if there are not that many.
        """
        return rows_and_weights(self.corpus.heldout_windows(sequences, length))

    def token_counts(self) -> Int[Tensor, "vocabulary"]:
        return torch.from_numpy(self.corpus.counts)

    def statistics(self) -> CorpusStatistics:
        return self.corpus.statistics

    def word_starts(self) -> Bool[Tensor, "vocabulary"] | None:
        known = self.corpus.tokenizer
        return None if known is None else torch.from_numpy(known.word_starts)

    def fixed_lags(self) -> frozenset[int]:
        return frozenset()

    def beginning(self) -> int | None:
        return self.corpus.bos

    def text(self, tokens: Tensor) -> str:
        return self.corpus.text(tokens)
