"""What training is made of: draws, losses, the open training state, counters, windows, schedules."""

from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, Self, runtime_checkable

from torch import Tensor

from ontogeny.errors import BadContract
from ontogeny.vocabulary.streams import digest


@dataclass(frozen=True)
class Draw:
    """What one step learns from, before it becomes tensors: a pure function of (seed, step).

    `items` are indices, prompts or task parameters; `identity` is the hash that goes to the journal.
    """

    items: Tensor

    @property
    def identity(self) -> int:
        return digest([self.items])


@dataclass(frozen=True)
class Losses:
    """Per-item losses with their weights; the trainer reduces. An item of weight 0 is not learned from."""

    values: Tensor
    weights: Tensor

    @property
    def total_weight(self) -> Tensor:
        return self.weights.sum()

    def mean(self) -> Tensor:
        """Weighted mean; NaN where nothing has weight (and then nothing must be learned)."""
        return (self.values * self.weights).sum() / self.weights.sum()


@runtime_checkable
class Saveable(Protocol):
    """Anything the training state may hold: it gives its state and takes it back."""

    def state_dict(self) -> Mapping[str, Any]: ...
    def load_state_dict(self, state: Any, /) -> Any: ...


class TrainingState(MutableMapping[str, Saveable]):
    """An open map of saveable parts: model, optimizer, schedule, averages, buffers, interventions, counters.

    A part that cannot be saved is refused when it is put in, not when the checkpoint is written.
    """

    def __init__(self, **parts: Saveable) -> None:
        self._parts: dict[str, Saveable] = {}
        for name, part in parts.items():
            self[name] = part

    def __setitem__(self, name: str, part: Saveable) -> None:
        if not isinstance(part, Saveable):
            raise BadContract(
                f"training state {name!r} cannot be saved",
                received=type(part).__name__,
                allowed="anything with state_dict() and load_state_dict(state)",
            )
        self._parts[name] = part

    def __getitem__(self, name: str) -> Any:
        return self._parts[name]

    def __delitem__(self, name: str) -> None:
        del self._parts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)


@dataclass
class Counters:
    """What has been counted so far; `step` counts optimizer steps and nothing else."""

    step: int = 0
    samples: int = 0
    tokens: int = 0
    micro_batches: int = 0

    def state_dict(self) -> dict[str, int]:
        return dict(vars(self))

    def load_state_dict(self, state: Mapping[str, int]) -> None:
        for name in vars(self):
            setattr(self, name, int(state[name]))


@dataclass(frozen=True)
class Window:
    """A half-open interval of steps, [start, end); `end=None` never ends."""

    start: int = 0
    end: int | None = None

    def __post_init__(self) -> None:
        if self.start < 0 or (self.end is not None and self.end < self.start):
            raise BadContract("a window ends before it starts", received=self, allowed="0 <= start <= end")

    def __contains__(self, step: int) -> bool:
        return self.start <= step and (self.end is None or step < self.end)


@dataclass(frozen=True)
class Scheduled:
    """When checkpoints are taken: 0, 1, 2, 4 … `dense_until`, then every `every` steps, and at the last.

    `explicit`, if given, replaces the rule (the last step is always kept).
    """

    last: int
    every: int = 100
    dense_until: int = 512
    explicit: tuple[int, ...] | None = None

    def steps(self) -> list[int]:
        if self.explicit is not None:
            chosen = {step for step in self.explicit if 0 <= step <= self.last}
        else:
            powers = {
                1 << k for k in range(self.last.bit_length()) if 1 << k <= min(self.dense_until, self.last)
            }
            start = (self.dense_until // self.every + 1) * self.every
            chosen = {0} | powers | set(range(start, self.last + 1, self.every))
        return sorted(chosen | {self.last})

    def __contains__(self, step: int) -> bool:
        return step in self._set

    @cached_property
    def _set(self) -> frozenset[int]:
        return frozenset(self.steps())

    @classmethod
    def of(cls, steps: Sequence[int]) -> Self:
        return cls(last=max(steps), explicit=tuple(steps))
