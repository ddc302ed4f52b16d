"""Texts to learn from: where they are, what they are, and which part is never trained on."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pyarrow
import pyarrow.parquet
import xxhash

from ontogeny.errors import BadSource
from ontogeny.sources import stdlib

TEXT_SUFFIXES = (".txt", ".py", ".md")
#: The share of the text that is held out.
HELD_OUT = 0.05
ALLOWED = (
    f"{stdlib.NAME}, a text file, a folder of {'/'.join(TEXT_SUFFIXES)} files, a .jsonl or .parquet file, "
    "or a folder with train.bin and val.bin"
)


@dataclass(frozen=True)
class Split:
    """Texts to train on, texts never trained on, and the rule that parted them, in words."""

    train: tuple[str, ...]
    heldout: tuple[str, ...]
    rule: str


@dataclass(frozen=True)
class Corpus:
    """Documents in a fixed order; `notes` says what was left out and why."""

    name: str
    documents: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not any(self.documents):
            raise BadSource(f"corpus {self.name} holds no text", received=f"{len(self.documents)} documents")

    @cached_property
    def hash(self) -> str:
        """xxh3-128 over the documents and where one ends and the next begins."""
        state = xxhash.xxh3_128()
        for document in self.documents:
            raw = document.encode()
            state.update(f"{len(raw)}\x1f".encode())
            state.update(raw)
        return state.hexdigest()

    @cached_property
    def split(self) -> Split:
        """About 5 % of the text held out: whole documents if there are enough, else the tail.

        Going through the documents in order, one is held out when the held-out text with it is at most 5 %
        of the text so far. Where that finds less than half of the share (one document, a few large ones),
        the tail of the concatenation is held out instead, from a line's start where one is near.
        Misleads: a document that occurs twice may be on both sides.
        """
        chosen = _held_out_documents([len(document) for document in self.documents])
        total = sum(len(document) for document in self.documents)
        if sum(len(self.documents[index]) for index in chosen) >= HELD_OUT / 2 * total:
            train = tuple(text for index, text in enumerate(self.documents) if index not in chosen)
            heldout = tuple(self.documents[index] for index in sorted(chosen))
            return Split(train, heldout, f"{len(heldout)} of {len(self.documents)} documents held out")
        train, heldout = _tail(self.documents, total)
        return Split(train, heldout, f"the last {sum(map(len, heldout))} of {total} characters held out")


def _held_out_documents(lengths: Sequence[int]) -> set[int]:
    chosen, held, seen = set(), 0, 0
    for index, length in enumerate(lengths):
        seen += length
        if held + length <= HELD_OUT * seen:
            chosen.add(index)
            held += length
    return chosen


def _tail(documents: Sequence[str], total: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The documents cut at 95 % of their characters; the document the cut falls into is on both sides."""
    left = round((1 - HELD_OUT) * total)
    for index, document in enumerate(documents):
        if left < len(document):
            newline = document.find("\n", left - 1, left + total // 100) if left else -1
            cut = left if newline < 0 else newline + 1
            train = (*documents[:index], document[:cut])
            heldout = (document[cut:], *documents[index + 1 :])
            return tuple(filter(None, train)), tuple(filter(None, heldout))
        left -= len(document)
    return tuple(documents), ()


def read_corpus(name: str, *, field: str = "text") -> Corpus:
    """A corpus by name or path; `field` is the JSONL key or Parquet column that holds the text.

    BadSource for a path with nothing readable behind it. Token files are not texts: see `read_token_files`.
    """
    if name == stdlib.NAME:
        documents, missing = stdlib.stdlib_documents()
        notes = (f"not in this Python: {', '.join(missing)}",) if missing else ()
        return Corpus(name, tuple(documents), notes)
    path = Path(name).expanduser()
    if path.is_dir():
        return _folder(path)
    if not path.is_file():
        raise BadSource("no such corpus", received=name, allowed=ALLOWED, remedy="give an existing path")
    read: Callable[[Path], Iterable[str]] = {
        ".jsonl": lambda path: _jsonl(path, field),
        ".parquet": lambda path: _parquet(path, field),
    }.get(path.suffix, lambda path: [_text(path)])
    return Corpus(path.name, tuple(filter(None, read(path))))


def _text(path: Path) -> str:
    """Bytes as they are: no newline is translated."""
    try:
        return path.read_bytes().decode()
    except UnicodeDecodeError as error:
        raise BadSource(f"{path} is not UTF-8 text", received=str(error), remedy="convert the file") from None


def _folder(path: Path) -> Corpus:
    found = [file for file in path.rglob("*") if file.suffix in TEXT_SUFFIXES and file.is_file()]
    inside = {file.relative_to(path): file for file in found}
    visible = sorted(name for name in inside if not any(part.startswith(".") for part in name.parts))
    if not visible:
        raise BadSource(
            f"{path} holds no text files", allowed=ALLOWED, remedy="name a file or another folder"
        )
    return Corpus(path.name, tuple(filter(None, (_text(inside[name]) for name in visible))))


def _jsonl(path: Path, field: str) -> Iterable[str]:
    for number, line in enumerate(_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            raise BadSource(f"{path}, line {number} is not JSON", received=str(error)) from None
        if not isinstance(record, dict) or not isinstance(record.get(field), str):
            raise BadSource(
                f"{path}, line {number} has no text under {field!r}",
                received=", ".join(record) if isinstance(record, dict) else type(record).__name__,
                remedy="name the key that holds the text: corpus.field",
            )
        yield record[field]


def _parquet(path: Path, field: str) -> Iterable[str]:
    try:
        columns = pyarrow.parquet.read_schema(path)
    except pyarrow.ArrowInvalid as error:
        raise BadSource(f"{path} is not a Parquet file", received=str(error)) from None
    kind = columns.field(field).type if field in columns.names else None
    if kind is None or not (pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind)):
        raise BadSource(
            f"{path} has no text column {field!r}",
            received=", ".join(f"{column.name} ({column.type})" for column in columns),
            remedy="name the column that holds the text: corpus.field",
        )
    return (text for text in pyarrow.parquet.read_table(path, columns=[field])[field].to_pylist() if text)
