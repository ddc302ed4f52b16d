"""The binary answer: a JSON header that says what follows, then columns of numbers.

    "ONTO" | length of the header, u4 | header, UTF-8, padded with spaces | columns, each padded to 8 bytes

all little-endian; the header and every column start at a multiple of 8. `layout` in the header has name, type
(f8, f4, u4, u1) and length of every column, in order. A column that is equal to an earlier one, byte for
byte, has that one's place in the layout as `same` and is not sent again: runs of equal steps have equal
edges.
"""

import json
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

MAGIC = b"ONTO"
ALIGNMENT = 8
TYPES = {"f8": "<f8", "f4": "<f4", "u4": "<u4", "u1": "u1"}
_NAMES = {math.inf: "Infinity", -math.inf: "-Infinity"}


class Column(NamedTuple):
    """One column of a frame; `series` is the index of the series it belongs to, where there are several."""

    name: str
    type: str
    values: ArrayLike
    series: int | None = None


def frame(header: Mapping[str, Any], columns: list[Column]) -> bytes:
    """The header, with `layout` added, and the columns."""
    with np.errstate(over="ignore"):  # what is beyond float32 becomes infinite
        held = [np.ascontiguousarray(column.values).astype(TYPES[column.type]) for column in columns]
    layout: list[dict[str, Any]] = []
    sent: dict[tuple[str, bytes], int] = {}
    for place, (column, values) in enumerate(zip(columns, held, strict=True)):
        entry: dict[str, Any] = {"name": column.name, "type": column.type, "length": values.size}
        if column.series is not None:
            entry["series"] = column.series
        if (same := sent.setdefault((column.type, values.tobytes()), place)) != place:
            entry["same"] = same
        layout.append(entry)
    # Plain already: what makes everything so would take longer than all else here.
    text = (
        strict({**header, "layout": []}).removesuffix(b"[]}")
        + json.dumps(layout, separators=(",", ":")).encode()
        + b"}"
    )
    text += b" " * (-(len(MAGIC) + 4 + len(text)) % ALIGNMENT)
    padded = [data + b"\0" * (-len(data) % ALIGNMENT) for _, data in sent]
    return b"".join([MAGIC, len(text).to_bytes(4, "little"), text, *padded])


def prefixed(data: bytes) -> bytes:
    """A frame as one of several in an answer: after its length, which is again padded to 8 bytes."""
    return len(data).to_bytes(ALIGNMENT, "little") + data


def strict(document: Any) -> bytes:
    """Strict JSON in UTF-8; what is not finite becomes its name. Lone surrogates are escaped."""
    text = json.dumps(plain(document), allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(plain(document), allow_nan=False, separators=(",", ":")).encode("ascii")


def plain(value: Any) -> Any:
    """Dicts with text keys, lists, text, numbers; NaN and infinities by name, numpy's numbers as Python's."""
    if type(value) in (str, int, bool):  # most of a layout, and asking for Mapping takes long
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return _NAMES.get(value, "NaN")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)


def read_frame(data: bytes) -> tuple[dict[str, Any], list[np.ndarray]]:
    """The header and the columns of a frame, in the order of its layout."""
    if data[:4] != MAGIC:
        raise ValueError("this is no frame")
    length = int.from_bytes(data[4:8], "little")
    header, place, columns = json.loads(data[8 : 8 + length]), 8 + length, []
    for entry in header["layout"]:
        if "same" in entry:
            columns.append(columns[entry["same"]])
            continue
        dtype = np.dtype(TYPES[entry["type"]])
        columns.append(np.frombuffer(data, dtype, entry["length"], place))
        size = dtype.itemsize * entry["length"]
        place += size + -size % ALIGNMENT
    return header, columns
