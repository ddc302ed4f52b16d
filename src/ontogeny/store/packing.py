"""How the values of one record are packed: which code each value gets, and the structure they make."""

import math
import struct
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ontogeny.errors import BadContract
from ontogeny.store.frames import LONGEST, Kind, packed_length
from ontogeny.store.telemetry import Column

_LARGEST_F4 = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class Packing:
    """The records of one set of columns: `structure` takes length, sequence, number, step, seconds, values.

    `texts` are the positions of strings, which are packed as their ids.
    """

    number: int
    structure: struct.Struct
    length: int
    texts: tuple[int, ...]

    @classmethod
    def of(cls, number: int, columns: tuple[Column, ...]) -> "Packing":
        structure = struct.Struct("<IIIqd" + "".join(code for _, code in columns))
        length = structure.size - 8  # length and sequence belong to the frame
        require_short(length)
        texts = tuple(index for index, (_, code) in enumerate(columns) if code == "I")
        return cls(number, structure, packed_length(Kind.VALUES, length), texts)


class Coder:
    """Chooses the code of each value, and remembers what has outgrown the usual one.

    A metric that once held an unsigned or a large number keeps the wider code, so that it does not go back
    and forth between two sets of columns.
    """

    def __init__(self) -> None:
        self._outgrown: set[Column] = set()

    def columns(self, values: Mapping[str, Any], narrow: Collection[str]) -> tuple[Column, ...]:
        """The column each value belongs to. Raises BadContract for what cannot be recorded."""
        return tuple((name, self._code(name, value, narrow)) for name, value in values.items())

    def _code(self, name: str, value: Any, narrow: Collection[str]) -> str:
        if not isinstance(name, str):
            raise BadContract("a metric's name is not a string", received=repr(name)[:200])
        if isinstance(value, str):
            return "I"
        if isinstance(value, bool | np.bool_):
            return "?"
        if isinstance(value, float | np.floating):
            if name not in narrow and type(value) not in (np.float32, np.float16):
                return "d"
            return self._or_wider(name, "f", "d", _LARGEST_F4 < abs(float(value)) < math.inf)
        if isinstance(value, int | np.integer) and -(1 << 63) <= value < 1 << 64:
            return "q" if value < 0 else self._or_wider(name, "q", "Q", bool(value >= 1 << 63))
        raise BadContract(
            f"metric {name!r} cannot be recorded",
            received=f"{type(value).__name__} {value!r}"[:200],
            allowed="float, bool, str, or an integer from -2**63 to 2**64-1",
            remedy="call .item() on tensors",
        )

    def _or_wider(self, name: str, code: str, wider: str, outgrown: bool) -> str:
        if outgrown:
            self._outgrown.add((name, code))
        return wider if (name, code) in self._outgrown else code


def require_short(length: int) -> None:
    if length > LONGEST:
        raise BadContract("a record is too long", received=f"{length:,} bytes", allowed=f"{LONGEST:,} bytes")
