"""How checkpoints lie on a disk: one small file a format, each read under canonical names.

    weights = formats.read(path)            # whichever format it is
    weights.tensors, weights.config, weights.notes

A format is found by looking at the path. Files that hold a pickle are read only under `Trust(pickles=True)`,
in a process of their own.
"""

import contextlib
from pathlib import Path

import xxhash

from ontogeny.errors import ForeignCheckpoint
from ontogeny.formats import (
    adapters,
    distributed,
    gguf_file,
    llama2c,
    own,
    pickles,
    pico,
    transformers_folder,
    transformers_pickle,
)
from ontogeny.formats.tokenizing import Lengths, lengths_of, open_tokenizer, tokenizer_in
from ontogeny.formats.weights import NO_PICKLES, Format, Trust, Weights
from ontogeny.store.checkpoint import open_checkpoint

__all__ = [
    "FORMATS",
    "NO_PICKLES",
    "Format",
    "Lengths",
    "Trust",
    "Weights",
    "caution",
    "files",
    "find",
    "hash_of",
    "lengths_of",
    "open_tokenizer",
    "read",
    "recognise",
    "tokenizer_in",
]

#: In the order in which they are asked; the first that claims a path reads it.
FORMATS: tuple[Format, ...] = (
    own,
    pico,
    transformers_folder,
    transformers_pickle,
    adapters,
    distributed,
    gguf_file,
    llama2c,
    pickles,
)


def find(path: Path | str) -> Format | None:
    """The format of a file or folder, or None if it is no checkpoint we know; reads at most a few bytes."""
    for known in FORMATS:
        with contextlib.suppress(OSError):  # what cannot be opened is in no format
            if known.claims(Path(path)):
                return known
    return None


def recognise(path: Path | str) -> Format:
    """The format of a file or folder; ForeignCheckpoint lists all formats if it has none of them."""
    path = Path(path)
    known = find(path)
    if known is None:
        raise ForeignCheckpoint(
            f"{path} is not a checkpoint in a known format",
            received=_seen(path),
            allowed="; ".join(f"{known.name}: {known.looks_like}" for known in FORMATS),
            remedy="save it as safetensors with its config.json, or give a Series a function that loads it",
        )
    return known


def _seen(path: Path) -> str:
    if path.is_dir():
        names = sorted(entry.name for entry in path.iterdir())
        return (
            f"a folder with {', '.join(names[:8])}{' …' if len(names) > 8 else ''}"
            if names
            else "an empty folder"
        )
    return f"a file of {path.stat().st_size:,} bytes" if path.is_file() else "no such file or folder"


def caution(path: Path | str) -> str | None:
    """What one should know of a checkpoint's values before measuring them, if its format has such a thing."""
    return gguf_file.caution if find(path) is gguf_file else None


def read(path: Path | str, *, trust: Trust = NO_PICKLES) -> Weights:
    """The weights at a path. Errors: ForeignCheckpoint, Damaged, Untrusted, MissingExtra."""
    return recognise(path).read(Path(path), trust=trust)


def files(path: Path | str) -> tuple[Path, ...]:
    """Every file whose bytes decide what is loaded from `path`: weights and configuration."""
    return recognise(path).files(Path(path))


def hash_of(path: Path | str) -> str:
    """What tells this checkpoint from every other, in 16 hex digits.

    Of ours, the manifest's hash of the model. Of others, xxh3-64 over the names (within the folder), lengths
    and bytes of `files`; nothing is unpickled for it. Equal weights written by different tools or under
    wrapped names differ in it; `Weights.hash` does not.
    """
    path = Path(path)
    if recognise(path) is own:
        return open_checkpoint(path).hash
    state = xxhash.xxh3_64()
    for file in files(path):
        label = file.name if path.is_dir() else ""
        state.update(f"{len(label)} {label} {file.stat().st_size}\n".encode())
        with file.open("rb") as stream:
            while block := stream.read(1 << 24):
                state.update(block)
    return state.hexdigest()
