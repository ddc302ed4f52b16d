"""What a format reads: tensors under canonical names, and whatever else the files say about the model."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

import torch
from torch import Tensor

from ontogeny.store.checkpoint import hash_of_tensors
from ontogeny.store.tensorfile import Span, read_tensor
from ontogeny.vocabulary import digest


@dataclass(frozen=True)
class Trust:
    """What a caller allows a foreign file to need.

    `pickles` allows files that hold a pickle. They are still opened in a process of their own, with torch's
    `weights_only` loading, at most `seconds` of time, and memory for `memory` bytes beyond what torch itself
    takes (None: 2 GiB and four times the files). A load that is refused there is never tried another way.
    """

    pickles: bool = False
    seconds: float = 600.0
    memory: int | None = None


NO_PICKLES = Trust()


@dataclass(frozen=True)
class Weights:
    """The weights of one checkpoint.

    tensors    by canonical name; a tied tensor is there once. Reading one may read the disk.
    aliases    other names of tied tensors, each with the name under which the tensor is in `tensors`
    config     the dictionary of `config.json`: of transformers, or ours (key "ontogeny"); {} where unknown
    tokenizer  a folder with tokenizer.json, or a file that is or holds one, for `formats.open_tokenizer`
    notes      what was done to the names and values, and what the format cannot know
    """

    tensors: Mapping[str, Tensor]
    config: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    aliases: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    tokenizer: Path | None = None
    notes: tuple[str, ...] = ()

    def noted(self, *notes: str) -> "Weights":
        """The same weights with more notes."""
        return replace(self, notes=(*self.notes, *notes))

    @property
    def dtypes(self) -> Mapping[str, torch.dtype]:
        """The dtype of every tensor in `tensors`, without reading it."""
        if isinstance(self.tensors, StoredTensors):
            return {name: span.dtype for name, (_, span) in self.tensors.spans.items()}
        return {name: tensor.dtype for name, tensor in self.tensors.items()}

    @property
    def shapes(self) -> Mapping[str, tuple[int, ...]]:
        """The shape of every tensor in `tensors`, without reading it."""
        if isinstance(self.tensors, StoredTensors):
            return {name: span.shape for name, (_, span) in self.tensors.spans.items()}
        return {name: tuple(tensor.shape) for name, tensor in self.tensors.items()}

    @property
    def parameters(self) -> int:
        """How many numbers the tensors hold; tied ones count once, buffers that were stored count too."""
        return sum(torch.Size(shape).numel() for shape in self.shapes.values())

    @cached_property
    def hashes(self) -> Mapping[str, str]:
        """xxh3-64 of each tensor's dtype, shape and bytes, in hex, by canonical name; reads every tensor."""
        return {name: f"{digest([self.tensors[name]]):016x}" for name in self.tensors}

    @cached_property
    def hash(self) -> str:
        """One hash over names and `hashes`: that of a checkpoint of ours with these tensors.

        It is the same for a model saved bare and saved in a wrapper, in one file and in several.
        """
        return hash_of_tensors(self.hashes)


class StoredTensors(Mapping[str, Tensor]):
    """Tensors that stay in their safetensors files until one is asked for; each is read into fresh memory."""

    def __init__(self, spans: Mapping[str, tuple[Path, Span]]) -> None:
        self.spans = spans

    def __getitem__(self, name: str) -> Tensor:
        path, span = self.spans[name]
        with open(path, "rb") as file:
            return read_tensor(file, span)

    def __iter__(self) -> Iterator[str]:
        return iter(self.spans)

    def __len__(self) -> int:
        return len(self.spans)


class Format(Protocol):
    """One way in which checkpoints lie on a disk; a module of this package is one.

    `name` is short; `looks_like` finishes the sentence "it is recognised by …".
    """

    name: str
    looks_like: str

    def claims(self, path: Path) -> bool:
        """Whether `path` looks like this format, from names and at most a few bytes."""
        ...

    def files(self, path: Path) -> tuple[Path, ...]:
        """Every file whose bytes decide what is loaded: weights and configuration."""
        ...

    def read(self, path: Path, *, trust: Trust = NO_PICKLES) -> Weights:
        """The weights. Errors: ForeignCheckpoint, Damaged, MissingExtra; Untrusted for pickles."""
        ...
