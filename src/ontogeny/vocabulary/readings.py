"""What measuring parts see and return: readings with a status, pairs, fitted artefacts."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from torch import Tensor

from ontogeny.vocabulary.places import Place


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


@dataclass(frozen=True)
class Reading:
    """What a measuring part returns when a bare tensor is not enough.

    `value`, `low`, `high` and `n` share one shape: the part's declared axes. Elements that are NaN get
    `status`; the others are `ok`. `status` may be one for all or a sequence, one an element in C order.

    `array` is kept once, by hash, and the row holds the hash: what is too long for rows (the loss of every
    token). `value` is then the one number that stands for it, and the part declares the array's axes
    (`array=("item", "position")`). Entries of it may be NaN; its readers skip them.
    """

    value: Tensor | float
    n: Tensor | int | None = None
    low: Tensor | float | None = None
    high: Tensor | float | None = None
    status: Status | Sequence[Status] = Status.NONFINITE
    reason: str = ""
    array: Tensor | None = None


def undefined(status: Status, reason: str, n: int | None = None) -> Reading:
    """A number that does not exist, and why. Parts return this in place of 0, NaN or an exception."""
    return Reading(math.nan, n=n, status=status, reason=reason)


def named_readings(returned: Any) -> dict[str, Reading]:
    """A part may return one number or several by name; the nameless one is the part's own."""
    if not isinstance(returned, Mapping):
        returned = {"": returned}
    return {name: value if isinstance(value, Reading) else Reading(value) for name, value in returned.items()}


class Pair(NamedTuple):
    """What a comparison sees of one kind of evidence: the checkpoint itself, and the reference."""

    here: Any
    there: Any


class Several(NamedTuple):
    """What a comparison with several references sees of one kind of evidence.

    `there` has every reference by its declared name, in that order; one that does not exist is a Reading
    that says why.
    """

    here: Any
    there: Mapping[str, Any]


@dataclass(frozen=True)
class Fitted:
    """What a fit returns: tensors to keep by hash, and numbers that say how good they are."""

    artefact: Mapping[str, Tensor]
    quality: Mapping[str, Reading | Tensor | float]


class Summarised(NamedTuple):
    """One result of a summary: a reading, and where and when it belongs.

    `step=None` says that it is of the whole course; its row stands at the last step that was read.
    """

    reading: Reading
    step: int | None = None
    place: Place = Place()
    component: str = ""
