"""The nouns every layer shares: statuses, places, readings, training state, random streams.

Nothing here does any work; parts and machinery meet in these types and nowhere else.
"""

import math
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple, Protocol, Self, TypeVar, runtime_checkable

import torch
import xxhash
from torch import Tensor

from ontogeny.errors import BadContract, UnknownName

T = TypeVar("T")


class Status(StrEnum):
    """Why a number is what it is. Everything but `ok` means: the value is null, and the reason says why."""

    OK = "ok"
    NONFINITE = "nonfinite"
    RANK_DEFICIENT = "rank-deficient"
    UNCONVERGED = "unconverged"
    TOO_SHORT = "too-short"
    NO_TARGET = "no-target"
    NOT_OBSERVABLE = "not-observable"
    OVER_BUDGET = "over-budget"
    NOT_LOCAL_MIN = "not-local-min"
    ZERO_WEIGHT = "zero-weight"
    ZERO_OUTPUT = "zero-output"
    N_TOO_SMALL = "n-too-small"
    CONSTANT_INPUT = "constant-input"
    FAILED = "failed"


class Verdict(StrEnum):
    """What a detector says of one series. Only `transition` claims that something formed."""

    TRANSITION = "transition"
    NONE = "none"
    GRADUAL = "gradual"
    UNFINISHED = "unfinished"
    BEFORE_START = "before-start"


#: Registered axes of a place, and the type of their coordinate. `register_axis` adds one.
AXES: dict[str, type] = {
    "layer": int,
    "loop": int,
    "head": int,
    "neuron": int,
    "feature": int,
    "expert": int,
    "position": int,
    "token": int,
    "item": int,
    "site": str,
    "matrix": str,
    "task": str,
}


def register_axis(name: str, kind: type) -> None:
    """Add an axis that rows may carry; the same axis may be registered again with the same type."""
    if kind not in (int, str):
        raise BadContract(f"axis {name!r} has an unusable type", received=kind, allowed="int or str")
    if AXES.setdefault(name, kind) is not kind:
        raise BadContract(f"axis {name!r} is already registered", received=kind, allowed=str(AXES[name]))


class Place(Mapping[str, int | str]):
    """Where a number belongs: coordinates on registered axes, in the axes' own order.

    >>> Place(head=2, layer=3)
    Place(layer=3, head=2)
    """

    __slots__ = ("_items",)

    def __init__(self, **coordinates: int | str) -> None:
        for axis in coordinates:
            if axis not in AXES:
                raise UnknownName("axis", axis, AXES)
        self._items = {axis: AXES[axis](coordinates[axis]) for axis in AXES if axis in coordinates}

    def __getitem__(self, axis: str) -> int | str:
        return self._items[axis]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(tuple(self._items.items()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Place) and self._items == other._items

    def __repr__(self) -> str:
        return f"Place({', '.join(f'{axis}={value!r}' for axis, value in self._items.items())})"

    def __str__(self) -> str:
        return " ".join(f"{axis} {value}" for axis, value in self._items.items()) or "whole model"

    def at(self, **coordinates: int | str) -> "Place":
        """This place with further (or other) coordinates."""
        return Place(**{**self._items, **coordinates})


@dataclass(frozen=True)
class Reading:
    """What a measuring part returns when a bare tensor is not enough.

    `value`, `low`, `high` and `n` share one shape: the part's declared axes. Elements that are NaN get
    `status`; the others are `ok`. `status` may be one for all or a sequence, one an element in C order.
    """

    value: Tensor | float
    n: Tensor | int | None = None
    low: Tensor | float | None = None
    high: Tensor | float | None = None
    status: Status | Sequence[Status] = Status.NONFINITE
    reason: str = ""


def undefined(status: Status, reason: str, n: int | None = None) -> Reading:
    """A number that does not exist, and why. Parts return this in place of 0, NaN or an exception."""
    return Reading(math.nan, n=n, status=status, reason=reason)


class Pair(NamedTuple):
    """What a comparison sees of one kind of evidence: the checkpoint itself, and the reference."""

    here: Any
    there: Any


@dataclass(frozen=True)
class Fitted:
    """What a fit returns: tensors to keep by hash, and numbers that say how good they are."""

    artefact: Mapping[str, Tensor]
    quality: Mapping[str, Reading | Tensor | float]


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
class Streams:
    """Random generators keyed by (seed, step, stream, place), so that no two uses ever share one.

    An intervention on one stream leaves the draws of the others unchanged; a step's numbers do not
    depend on how many were drawn before it.
    """

    seed: int

    def key(self, stream: str, step: int = 0, place: str = "") -> int:
        return xxhash.xxh3_64_intdigest(f"{self.seed}\x1f{step}\x1f{stream}\x1f{place}".encode()) >> 1

    def generator(
        self, stream: str, step: int = 0, place: str = "", device: torch.device | str = "cpu"
    ) -> torch.Generator:
        return torch.Generator(device).manual_seed(self.key(stream, step, place))


def digest(tensors: Sequence[Tensor]) -> int:
    """xxh3-64 over the bytes of tensors in order; equal bits, shapes and dtypes give equal digests."""
    state = xxhash.xxh3_64()
    for tensor in tensors:
        tensor = tensor.detach()
        state.update(f"{tuple(tensor.shape)}{tensor.dtype}".encode())
        if tensor.numel():
            raw = tensor.cpu().contiguous().view(-1).view(torch.uint8).numpy()
            state.update(memoryview(raw))  # pyright: ignore[reportArgumentType]  # numpy arrays are buffers
    return state.intdigest()


@dataclass(frozen=True)
class Located:
    """What a detector says of one series: when it changed, by how much, how sure, or why nothing is claimed.

    Steps are optimizer steps; `low` and `high` bound `step` at `level`. `size` is signed, in the series'
    own unit; `width` is the ln step between 10 % and 90 % of it; `quiet_sd` the noise it was held against.
    `p` is the chance that the null alone reaches the size; None where no null was given.
    """

    verdict: Verdict
    step: float | None = None
    low: float | None = None
    high: float | None = None
    level: float = 0.95
    size: float | None = None
    width: float | None = None
    quiet_sd: float | None = None
    p: float | None = None
    reason: str = ""


@dataclass(frozen=True)
class Transition:
    """A located change with its address: which part, which place, on which stimulus, by which method."""

    part: str
    component: str
    place: Place
    stimulus: str
    unit: str
    method: str
    located: Located


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

    @property
    def _set(self) -> frozenset[int]:
        return frozenset(self.steps())

    @classmethod
    def of(cls, steps: Sequence[int]) -> Self:
        return cls(last=max(steps), explicit=tuple(steps))
