"""Token streams by hash: what a run learns from, encoded once and mapped ever after."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import tokenizers
import torch
import xxhash
from numpy.typing import NDArray
from torch import Tensor

from ontogeny.errors import BadSource, Damaged, NotARun
from ontogeny.sources import stdlib
from ontogeny.sources.corpus import Corpus, read_corpus
from ontogeny.sources.corpus_statistics import CorpusStatistics
from ontogeny.sources.token_files import holds_token_files, read_token_files
from ontogeny.sources.tokenizer import Tokenizer, byte_tokenizer, read_tokenizer, trained_bpe
from ontogeny.store.documents import read_json, write_json
from ontogeny.store.files import named_errors, write_file

Tokens = NDArray[np.uint16] | NDArray[np.uint32]

#: Goes up when the same corpus and tokenizer would be cut or encoded otherwise.
DEFINITION = 1
INDEX = "tokens.json"
STREAMS = ("train", "heldout")
#: Tokens looked at in one go, so that a mapped stream larger than memory can be counted.
CHUNK = 1 << 24


@dataclass(frozen=True, eq=False)
class TokenSource:
    """Two token streams, what their ids mean, and hashes that say which they are.

    train, heldout   uint16 or uint32 [token], usually mapped from a file
    vocabulary       ids are 0 … vocabulary − 1
    counts           how often each id occurs in `train`, int64 [vocabulary]
    hash             xxh3-128 of vocabulary and both streams: two sources of one hash train alike
    corpus_hash      of the text; that of the streams where there is no text
    tokenizer        None for token files
    bos              the token every document begins with, if there is one
    split, notes     what was held out, and what was skipped, in words
    """

    name: str
    train: Tokens
    heldout: Tokens
    vocabulary: int
    counts: NDArray[np.int64]
    hash: str
    corpus_hash: str
    split: str
    notes: tuple[str, ...] = ()
    tokenizer: Tokenizer | None = None
    pieces: Mapping[int, str] | None = None
    bos: int | None = None
    folder: Path | None = None

    @cached_property
    def statistics(self) -> CorpusStatistics:
        """What can be counted in the training stream, kept beside it if it is a cached one."""
        cached = self.folder is not None and (self.folder / INDEX).is_file()
        return CorpusStatistics([self.train], self.counts, self.hash, self.folder if cached else None)

    def text(self, tokens: Tensor | Tokens | Sequence[int]) -> str:
        """Tokens as a person reads them; ids separated by spaces where nobody knows what they mean."""
        ids = [int(token) for token in tokens]
        if self.tokenizer is not None:
            return self.tokenizer.decode(ids)
        if self.pieces is not None:
            return "".join(self.pieces.get(token, "�") for token in ids)
        return " ".join(map(str, ids))

    def require_rows(self, width: int) -> None:
        """BadSource if either stream is shorter than one row of `width` tokens."""
        for name, stream in (("training", self.train), ("held-out", self.heldout)):
            if len(stream) < width:
                raise BadSource(
                    f"the {name} part of {self.name} is shorter than one row",
                    received=f"{len(stream)} tokens",
                    allowed=f"at least {width} tokens (objective.context + 1)",
                    remedy="give more text or a shorter context",
                )

    def draw(self, rows: int, width: int, rng: torch.Generator) -> Tensor:
        """Where rows of `width` tokens start, uniform over the training stream: int64 [row]."""
        return torch.randint(len(self.train) - width + 1, (rows,), generator=rng)

    def windows(self, items: Tensor, width: int) -> Tensor:
        """The rows that a draw names: int64 [row, width]."""
        places = items.numpy()[:, None] + np.arange(width)
        return torch.from_numpy(self.train[places].astype(np.int64))

    def heldout_windows(self, rows: int, width: int) -> Tensor:
        """Windows of the held-out stream that do not overlap, evenly spaced from its start: int64
        [row, width]. BadSource if it has not that many."""
        if rows * width > len(self.heldout):
            raise BadSource(
                f"the held-out part of {self.name} is too short",
                received=f"{len(self.heldout)} tokens: {len(self.heldout) // width} rows of {width}",
                allowed=f"{rows} rows of {width}: {rows * width} tokens",
                remedy="ask for fewer or shorter rows, or give more text",
            )
        starts = np.arange(rows) * len(self.heldout) // max(rows, 1)
        return torch.from_numpy(self.heldout[starts[:, None] + np.arange(width)].astype(np.int64))


def resolve(
    *,
    corpus: str = stdlib.NAME,
    tokenizer: str = "bpe",
    size: int = 512,
    field: str = "text",
    vocabulary: int | None = None,
    cache: Path,
) -> TokenSource:
    """The token streams of a corpus under a tokenizer, encoded once into `cache/<hash>/` and mapped from it.

    `corpus` is python-stdlib or a path (`read_corpus`, `read_token_files`); `tokenizer` is bytes, bpe (with
    `size` tokens, trained on the training part only) or a folder with a tokenizer.json. Token files are used
    in place, need no tokenizer, and may be given their `vocabulary`. BadSource says what does not fit.
    """
    folder = Path(corpus).expanduser()
    if holds_token_files(folder):
        return from_token_files(folder, vocabulary)
    texts = read_corpus(corpus, field=field)
    given = given_tokenizer(tokenizer)
    make = given or (lambda: trained_bpe(texts.split.train, size))
    return encoded(texts, kind_of(tokenizer, size, given), make, cache)


def given_tokenizer(name: str) -> Callable[[], Tokenizer] | None:
    """How to have the tokenizer of a recipe's `tokenizer.name`; None for bpe, which a text must train."""
    if name == "bpe":
        return None
    found = byte_tokenizer() if name == "bytes" else read_tokenizer(Path(name).expanduser())
    return lambda: found


def kind_of(name: str, size: int, given: Callable[[], Tokenizer] | None) -> list[Any]:
    """What says in the key of a cached stream which tokenizer encoded it."""
    if given is None:
        return ["bpe", size, tokenizers.__version__]
    return ["bytes"] if name == "bytes" else [given().hash, given().special]


def encoded(texts: Corpus, kind: list[Any], make: Callable[[], Tokenizer], cache: Path) -> TokenSource:
    """A text's streams under the tokenizer that `make` gives, from `cache/<hash>/`, where they are put if
    they are not there."""
    key = json.dumps([DEFINITION, texts.hash, kind], sort_keys=True)
    home = Path(cache) / xxhash.xxh3_128_hexdigest(key.encode())
    try:
        return open_tokens(home)
    except (NotARun, Damaged):  # a cache is derived: what cannot be trusted is made again
        pass
    _write(home, texts, make())
    return open_tokens(home)


def from_token_files(folder: Path, vocabulary: int | None) -> TokenSource:
    """A folder of token files, mapped where it is; BadSource for tokens outside the vocabulary."""
    files = read_token_files(folder, vocabulary)
    counts = _counts(files.train, files.vocabulary, folder)
    _counts(files.heldout, files.vocabulary, folder)
    both = _content_hash(files.vocabulary, files.train, files.heldout)
    return TokenSource(
        name=folder.name,
        train=files.train,
        heldout=files.heldout,
        vocabulary=files.vocabulary,
        counts=counts,
        hash=both,
        corpus_hash=both,
        split="val.bin held out",
        pieces=files.pieces,
        folder=folder,
    )


def _counts(stream: Tokens, vocabulary: int, where: Path) -> NDArray[np.int64]:
    counts = np.zeros(vocabulary, dtype=np.int64)
    for start in range(0, len(stream), CHUNK):
        found = np.bincount(stream[start : start + CHUNK], minlength=vocabulary)
        if len(found) > vocabulary:
            raise BadSource(
                f"{where} holds a token outside the vocabulary",
                received=f"token {len(found) - 1}, vocabulary {vocabulary}",
                remedy="set corpus.vocabulary to that of the tokenizer which made the files",
            )
        counts += found
    return counts


def _content_hash(vocabulary: int, train: Tokens, heldout: Tokens) -> str:
    state = xxhash.xxh3_128(f"{vocabulary}".encode())
    for stream in (train, heldout):
        state.update(f"\x1f{len(stream)}{stream.dtype}\x1f".encode())
        state.update(stream.data.cast("B"))
    return state.hexdigest()


def _write(home: Path, texts: Corpus, tokenizer: Tokenizer) -> None:
    """Streams and tokenizer first, the index that makes them count last."""
    dtype = np.dtype(np.uint16 if tokenizer.vocabulary <= 1 << 16 else np.uint32)
    streams = {}
    for name in STREAMS:
        encoded = tokenizer.encode(getattr(texts.split, name))
        streams[name] = np.concatenate([np.zeros(0, np.uint32), *encoded]).astype(dtype)
        if not len(streams[name]):
            raise BadSource(
                f"corpus {texts.name} is too small to split",
                received=f"{sum(map(len, texts.documents))} characters, no token for {name}",
                remedy="give more text",
            )
    with named_errors(home):
        home.mkdir(parents=True, exist_ok=True)
    for name, stream in streams.items():
        write_file(home / f"{name}.bin", stream.data.cast("B"))
    tokenizer.save(home)
    index = {
        "name": texts.name,
        "dtype": dtype.name,
        "vocabulary": tokenizer.vocabulary,
        "hash": _content_hash(tokenizer.vocabulary, streams["train"], streams["heldout"]),
        "corpus_hash": texts.hash,
        "split": texts.split.rule,
        "notes": list(texts.notes),
    }
    write_json(home / INDEX, index, seal=True)


def open_tokens(folder: Path) -> TokenSource:
    """A cached source, mapped; what another process must do to read what this one resolved.

    NotARun if nothing was finished there, Damaged if the streams are not what was written.
    """
    index = read_json(folder / INDEX, seal=True)
    dtype = np.dtype(index["dtype"])
    paths = [folder / f"{name}.bin" for name in STREAMS]
    if not all(path.is_file() and path.stat().st_size for path in paths):
        raise Damaged(f"{folder} lacks a token stream", remedy="remove the folder: it will be made again")
    train, heldout = (np.memmap(path, dtype=dtype, mode="r") for path in paths)
    if _content_hash(index["vocabulary"], train, heldout) != index["hash"]:
        raise Damaged(f"the token streams of {folder} have changed", remedy="remove the folder")
    tokenizer = read_tokenizer(folder)
    return TokenSource(
        name=index["name"],
        train=train,
        heldout=heldout,
        vocabulary=index["vocabulary"],
        counts=_counts(train, index["vocabulary"], folder),
        hash=index["hash"],
        corpus_hash=index["corpus_hash"],
        split=index["split"],
        notes=tuple(index["notes"]),
        tokenizer=tokenizer,
        bos=tokenizer.bos,
        folder=folder,
    )
