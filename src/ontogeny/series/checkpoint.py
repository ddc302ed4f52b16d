"""One checkpoint of a series: its step, how to tell it from every other, and how to get at it."""

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from ontogeny import formats
from ontogeny.formats import NO_PICKLES, Trust, Weights
from ontogeny.series.recorded import recorded_tokens


@dataclass(frozen=True)
class SeriesCheckpoint(ABC):
    """A checkpoint by its step.

    label     what it is called where it comes from: a folder, a file, a revision
    counted   tokens seen by then, where a rule or its name says so
    """

    step: int
    label: str
    counted: float | None = None

    @property
    @abstractmethod
    def hash(self) -> str:
        """What tells its weights and configuration from every other's."""

    @property
    def tokens(self) -> float | None:
        """Tokens seen by then; None where nothing says."""
        return self.counted

    @abstractmethod
    def weights(self) -> Weights:
        """Its weights under canonical names. Errors: those of `formats.read`, and of getting there."""


@dataclass(frozen=True)
class StoredCheckpoint(SeriesCheckpoint):
    """A checkpoint in files."""

    trust: Trust = field(default=NO_PICKLES, kw_only=True)

    @abstractmethod
    def present(self) -> AbstractContextManager[Path]:
        """Its path on this machine, for as long as the context lasts."""

    @abstractmethod
    def tokenizer(self) -> Path:
        """A folder that holds its tokenizer, if there is any, or the file it is; both stay where they are."""


@dataclass(frozen=True)
class LocalCheckpoint(StoredCheckpoint):
    """A checkpoint on this machine, in any format."""

    path: Path = field(kw_only=True)

    @property
    def hash(self) -> str:
        """`formats.hash_of`; read once."""
        return self._hash

    @property
    def tokens(self) -> float | None:
        """By the rule or the name, else what its trainer counted."""
        return self.counted if self.counted is not None else self._recorded

    @cached_property
    def _hash(self) -> str:
        return formats.hash_of(self.path)

    @cached_property
    def _recorded(self) -> float | None:
        return recorded_tokens(self.path)

    def weights(self) -> Weights:
        return formats.read(self.path, trust=self.trust)

    def present(self) -> AbstractContextManager[Path]:
        return nullcontext(self.path)

    def tokenizer(self) -> Path:
        return self.path
