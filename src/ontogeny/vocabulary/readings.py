"""What measuring parts see and return: readings with a status, pairs, fitted artefacts."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from torch import Tensor


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
