"""What a stimulus may know about the data of a series."""

import contextlib
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ontogeny.catalogue import DataFacts
from ontogeny.errors import BadSource
from ontogeny.formats import tokenizer_in
from ontogeny.record.recipe import Recipe
from ontogeny.record.training import objective_of
from ontogeny.series import Series, SeriesCheckpoint, StoredCheckpoint
from ontogeny.sources import CorpusStatistics, Tokenizer
from ontogeny.subject import Subject

#: Rows of a text there must be, and how short they may become for it.
FEWEST, SHORTEST = 8, 64


class TextFacts:
    """Facts of a series that names no data: its vocabulary and context, and a text given beside it.

    Token counts are unknown, so every token of the vocabulary but the beginning token may be used in
    stimuli, those that training never showed among them. Rows of the embedding beyond the tokenizer's
    length are no tokens and not used.
    """

    def __init__(self, subject: Subject, place: Path | None, text: Path | None) -> None:
        self.place, self.path = place, text
        self.context = subject.anatomy.context
        rows = subject.anatomy.vocabulary
        with contextlib.suppress(BadSource):  # what cannot be read is told when a text is asked for
            rows = min(rows, self._tokenizer.vocabulary)
        self.vocabulary = rows

    def heldout(self, sequences: int, length: int) -> tuple[Tensor, Tensor] | None:
        """Evenly spaced windows of the given text.

        Where the text has fewer than eight that long, they are half as long, and again, but not below 64.
        BadSource if there are still fewer than eight.
        """
        if self.path is None:
            return None
        tokens = self._encoded(self.path)
        while len(tokens) < FEWEST * length and length >= 2 * SHORTEST:
            length //= 2
        if len(tokens) < FEWEST * length:
            raise BadSource(
                f"{self.path} is too short to measure on",
                received=f"{len(tokens):,} tokens",
                allowed=f"at least {FEWEST * length:,} ({FEWEST} rows of {length})",
                remedy="give a longer text with --text",
            )
        count = min(sequences, len(tokens) // length)
        starts = np.arange(count) * (len(tokens) - length) // max(count - 1, 1)
        rows = torch.from_numpy(tokens[starts[:, None] + np.arange(length)].astype(np.int64))
        weights = torch.ones(rows.shape)
        weights[:, -1] = 0
        return rows, weights

    def _encoded(self, path: Path) -> NDArray[np.uint32]:
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise BadSource(
                f"{path} cannot be read", received=str(error), allowed="a text file in UTF-8"
            ) from None
        tokens = self._tokenizer.encode([text])[0]
        if len(tokens) and int(tokens.max()) >= self.vocabulary:
            raise BadSource(
                f"the tokenizer of {self.place} is not the model's",
                received=f"token {int(tokens.max())}",
                allowed=f"tokens below the model's vocabulary of {self.vocabulary}",
            )
        return tokens

    def token_counts(self) -> Tensor | None:
        return None

    def statistics(self) -> CorpusStatistics | None:
        """None: a text to measure on is not the data that was trained on."""
        return None

    def word_starts(self) -> Tensor | None:
        with contextlib.suppress(BadSource):
            starts = torch.from_numpy(self._tokenizer.word_starts)
            return torch.nn.functional.pad(starts, (0, max(0, self.vocabulary - len(starts))))
        return None

    def fixed_lags(self) -> frozenset[int]:
        return frozenset()

    def beginning(self) -> int | None:
        """The tokenizer's beginning token, if there is a tokenizer that names one."""
        return None if self._found is None else self._found.bos

    def text(self, tokens: Tensor) -> str:
        return self._tokenizer.decode(tokens.tolist())

    @cached_property
    def _found(self) -> Tokenizer | None:
        return None if self.place is None else tokenizer_in(self.place)

    @property
    def _tokenizer(self) -> Tokenizer:
        if self._found is None:
            whose = "the checkpoints" if self.place is None else str(self.place)
            raise BadSource(
                f"no tokenizer was found with {whose}",
                allowed="a tokenizer.json beside the checkpoint, or llama2.c's one tok*.bin or tok*.model",
                remedy="put the tokenizer that the model was trained with beside its checkpoint",
            )
        return self._found


def facts_of(
    series: Series, subject: Subject, text: Path | None = None, checkpoint: SeriesCheckpoint | None = None
) -> DataFacts:
    """A run made from a recipe knows its data; any other series has what is given beside it.

    The tokenizer is that of `checkpoint`, or of the last.
    """
    if series.run is not None and "recipe" in series.run.identity:
        recipe = Recipe.from_document(series.run.identity["recipe"], tried=True)
        return objective_of(recipe, series.run.path).facts()
    told = checkpoint or series.checkpoints[-1]
    return TextFacts(subject, told.tokenizer() if isinstance(told, StoredCheckpoint) else None, text)
