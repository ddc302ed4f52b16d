"""Several corpora under one tokenizer, drawn from by weight."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache as once
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
import xxhash
from numpy.typing import NDArray
from torch import Tensor

from ontogeny.errors import BadSource
from ontogeny.sources import stdlib
from ontogeny.sources.corpus import read_corpus
from ontogeny.sources.corpus_statistics import CorpusStatistics
from ontogeny.sources.token_files import holds_token_files
from ontogeny.sources.tokenizer import Tokenizer, trained_bpe
from ontogeny.sources.tokens import (
    TokenSource,
    encoded,
    from_token_files,
    given_tokenizer,
    kind_of,
)

#: More than any count of places, so that a remainder of it favours none noticeably, and below 2^63.
MANY = 1 << 62


class Named(NamedTuple):
    """One corpus of a mixture, as a recipe names it; `weight` is its share of the rows, up to a factor."""

    name: str = stdlib.NAME
    weight: float = 1.0
    field: str = "text"
    vocabulary: int | None = None


@dataclass(frozen=True, eq=False)
class Mixture:
    """Token streams of several sources, with one meaning of their ids; what a TokenSource offers, mixed.

    sources    in the recipe's order
    weights    each from 0, summing to 1: the chance that a row comes from that source
    encoding   which tokenizer it is and what it was trained on, in words

    A draw holds, for each row, its source, a place and a chance. The source follows from the chance and the
    weights, the start from the place, so that under other weights (`reweighted`) a row keeps its place and
    changes only if its source does.
    Misleads: `counts` and held-out rows go by the sources alone, whatever their weights, so that runs of
    other weights are measured on the same; they are not what a step of training is made of.
    """

    sources: tuple[TokenSource, ...]
    weights: tuple[float, ...]
    encoding: str

    @cached_property
    def names(self) -> tuple[str, ...]:
        """A name for each source; those that would be the same are numbered."""
        times = Counter(source.name for source in self.sources)
        return tuple(
            source.name if times[source.name] == 1 else f"{source.name}.{number}"
            for number, source in enumerate(self.sources)
        )

    @property
    def name(self) -> str:
        return " + ".join(self.names)

    @property
    def vocabulary(self) -> int:
        return self.sources[0].vocabulary

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How often each id occurs in the training parts of all sources together."""
        return np.sum([source.counts for source in self.sources], axis=0)

    @property
    def hash(self) -> str:
        """xxh3-128 of the sources' hashes in order; mixtures of one hash and equal weights train alike."""
        return _joined([source.hash for source in self.sources])

    @property
    def corpus_hash(self) -> str:
        return _joined([source.corpus_hash for source in self.sources])

    @property
    def split(self) -> str:
        return "; ".join(f"{name}: {one.split}" for name, one in zip(self.names, self.sources, strict=True))

    @property
    def notes(self) -> tuple[str, ...]:
        named = zip(self.names, self.sources, strict=True)
        return tuple(f"{name}: {note}" for name, source in named for note in source.notes)

    @property
    def tokenizer(self) -> Tokenizer | None:
        return self.sources[0].tokenizer

    @property
    def bos(self) -> int | None:
        return self.sources[0].bos

    @cached_property
    def statistics(self) -> CorpusStatistics:
        """What can be counted in the training parts of all sources together, whatever their weights."""
        return CorpusStatistics([source.train for source in self.sources], self.counts, self.hash)

    def text(self, tokens: Tensor) -> str:
        """Tokens as a person reads them."""
        return self.sources[0].text(tokens)

    def require_rows(self, width: int) -> None:
        """BadSource if a stream of any source is shorter than one row of `width` tokens."""
        for source in self.sources:
            source.require_rows(width)

    def draw(self, rows: int, width: int, rng: torch.Generator) -> Tensor:
        """Source, place and chance of each row: int64 [row, 3], the last two from 0 up to `MANY`."""
        place, chance = torch.randint(MANY, (2, rows), generator=rng)
        return torch.stack([_source(chance, self.weights), place, chance], 1)

    def reweighted(self, items: Tensor, weights: Sequence[float]) -> Tensor:
        """The same draw under other weights; under the mixture's own, the same bits."""
        return torch.stack([_source(items[:, 2], weights), items[:, 1], items[:, 2]], 1)

    def rows_of(self, items: Tensor) -> list[int]:
        """How many rows of a draw each source gives."""
        return torch.bincount(items[:, 0], minlength=len(self.sources)).tolist()

    def windows(self, items: Tensor, width: int) -> Tensor:
        """The rows that a draw names: int64 [row, width]; a start is its place modulo how many there are."""
        found = torch.empty(len(items), width, dtype=torch.int64)
        for number, source in enumerate(self.sources):
            mine = items[:, 0] == number
            starts = items[mine, 1] % (len(source.train) - width + 1)
            found[mine] = source.windows(starts, width)
        return found

    def heldout_rows(self, rows: int) -> list[int]:
        """How many of so many held-out rows each source gives: equally many, the first ones one more."""
        count = len(self.sources)
        return [rows // count + (number < rows % count) for number in range(count)]

    def heldout_windows(self, rows: int, width: int) -> Tensor:
        """Held-out rows [row, width], those of the first source first; BadSource if one has too few."""
        shares = zip(self.sources, self.heldout_rows(rows), strict=True)
        return torch.cat([source.heldout_windows(share, width) for source, share in shares])


def _joined(hashes: Sequence[str]) -> str:
    return xxhash.xxh3_128_hexdigest("\x1f".join(hashes).encode())


def _source(chance: Tensor, weights: Sequence[float]) -> Tensor:
    """The source in whose part of [0, 1), cut by the weights, each chance / `MANY` lies."""
    shares = torch.tensor(weights, dtype=torch.float64)
    above = (shares / shares.sum()).cumsum(0)
    # Rounding may leave the last sum below 1: what lies above it belongs to the last source with weight.
    last = int(shares.nonzero().max())
    return torch.searchsorted(above, chance.double() / MANY, right=True).clamp(max=last)


def resolve_mixture(
    corpora: Sequence[Named],
    *,
    tokenizer: str = "bpe",
    size: int = 512,
    trained_on: str | None = None,
    cache: Path,
) -> Mixture:
    """Several corpora under one tokenizer, each encoded once into its own folder of `cache`.

    bpe is trained on the training parts of all corpora, in their order and whatever their weights; with
    `trained_on`, of the one of that name alone. Folders of token files can be mixed with one another, if
    they have one vocabulary. BadSource says what does not fit together.
    """
    folders = [Path(one.name).expanduser() for one in corpora]
    filed = [holds_token_files(folder) for folder in folders]
    total = sum(one.weight for one in corpora)
    weights = tuple(one.weight / total for one in corpora)
    if any(filed):
        if not all(filed):
            raise BadSource(
                "texts and token files cannot be mixed: their ids mean different things",
                received=", ".join(one.name for one in corpora),
                remedy="encode the texts into token files with the tokenizer of the others",
            )
        found = [from_token_files(f, one.vocabulary) for f, one in zip(folders, corpora, strict=True)]
        _require_one_meaning(found)
        return Mixture(tuple(found), weights, "token files")
    sources, encoding = _encoded_alike(corpora, tokenizer, size, trained_on, cache)
    return Mixture(sources, weights, encoding)


def _encoded_alike(
    corpora: Sequence[Named], tokenizer: str, size: int, trained_on: str | None, cache: Path
) -> tuple[tuple[TokenSource, ...], str]:
    texts = [read_corpus(one.name, field=one.field) for one in corpora]
    given = given_tokenizer(tokenizer)
    kind = kind_of(tokenizer, size, given)
    encoding = f"tokenizer {tokenizer}"
    if given is None:
        chosen = [t for t, one in zip(texts, corpora, strict=True) if trained_on in (None, one.name)]
        # A text under a tokenizer trained on it alone is what a recipe of this one corpus has.
        kinds = [kind if [t] == chosen else [*kind, [other.hash for other in chosen]] for t in texts]
        given = once(lambda: trained_bpe([part for text in chosen for part in text.split.train], size))
        encoding = f"bpe trained on {trained_on or 'the training parts of all corpora'}"
    else:
        kinds = [kind] * len(texts)
    return tuple(encoded(t, k, given, cache) for t, k in zip(texts, kinds, strict=True)), encoding


def _require_one_meaning(sources: Sequence[TokenSource]) -> None:
    """BadSource for token files of several vocabularies or alphabets."""
    first = sources[0]
    for other in sources[1:]:
        if other.vocabulary != first.vocabulary or other.pieces != first.pieces:
            raise BadSource(
                f"the ids of {first.name} and {other.name} mean different things",
                received=f"vocabularies of {first.vocabulary} and {other.vocabulary}",
                allowed="token files made with one tokenizer, with equal meta files",
            )
