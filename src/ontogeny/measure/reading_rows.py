"""From what a part returned to rows."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ontogeny.catalogue import Part
from ontogeny.errors import BadContract
from ontogeny.store.arrays import array_hash
from ontogeny.vocabulary import Place, Reading, Status

Row = dict[str, Any]
#: One result of more numbers than this is one row and an array.
MOST_ROWS = 100_000


def kept_rows(
    part: Part, component: str, place: Place, reading: Reading
) -> tuple[list[Row], dict[str, Tensor]]:
    """The rows of a reading, and the array they point at by its hash, if it has one.

    A reading with an array is one row: its own number, and the array's hash. So is a reading of more than
    `MOST_ROWS` numbers; its value is null and its status `ok` if any of them is finite.
    """
    array = reading.array
    if array is not None:
        _require_declared(part, reading, array)
        rows = list(reading_rows(part, component, place, replace(reading, array=None)))
    elif math.prod(np.shape(reading.value)) > MOST_ROWS:
        array = torch.as_tensor(reading.value)
        rows = [_row_of_many(component, place, array)]
    else:
        return list(reading_rows(part, component, place, reading)), {}
    array = array.detach().cpu().contiguous()
    name = array_hash(array)
    return [{**row, "array": name} for row in rows], {name: array}


def _row_of_many(component: str, place: Place, array: Tensor) -> Row:
    finite = int(array.isfinite().sum())
    return {
        "component": component,
        **place,
        "value": None,
        "n": finite,
        "status": str(Status.OK if finite else Status.NONFINITE),
        "reason": f"{array.numel()} numbers, {finite} of them finite, kept as an array",
    }


def _require_declared(part: Part, reading: Reading, array: Tensor) -> None:
    if np.ndim(reading.value) or array.ndim != len(part.array):
        raise BadContract(
            f"{part.kind} {part.name!r} kept an array that it does not declare",
            received=f"a value of shape {np.shape(reading.value)}, an array of {tuple(array.shape)}",
            allowed=f"one number, and an array with axes {part.array or '(none are declared)'}",
            remedy='declare its axes: array=("item", "position")',
        )


def _elements(value: Any, shape: tuple[int, ...]) -> np.ndarray:
    if value is None:
        return np.full(shape, None, dtype=object)
    array = value.detach().double().cpu().numpy() if isinstance(value, Tensor) else np.asarray(value)
    return np.broadcast_to(array, shape)


def reading_rows(part: Part, component: str, place: Place, reading: Reading) -> Iterator[Row]:
    """One row an element of the reading's value, at the place plus the part's own axes."""
    if np.ndim(reading.value) == 0:
        (status,) = _statuses(part, reading, 1)
        values = (reading.value, reading.low, reading.high, reading.n)
        value, low, high, n = (one.item() if isinstance(one, Tensor | np.ndarray) else one for one in values)
        yield _row(component, place, math.nan if value is None else value, low, high, n, status, reading)
        return
    value = np.asarray(_elements(reading.value, np.shape(reading.value)), dtype=float)
    if value.ndim != len(part.axes):
        raise BadContract(
            f"{part.kind} {part.name!r} returned a value of another shape than it declares",
            received=tuple(value.shape),
            allowed=f"axes {part.axes}",
        )
    low, high, n = (_elements(extra, value.shape) for extra in (reading.low, reading.high, reading.n))
    for index, status in zip(np.ndindex(value.shape), _statuses(part, reading, value.size), strict=True):
        there = place.at(**dict(zip(part.axes, map(int, index), strict=True)))
        yield _row(component, there, value[index], low[index], high[index], n[index], status, reading)


def _row(
    component: str, place: Place, value: Any, low: Any, high: Any, n: Any, status: Status, reading: Reading
) -> Row:
    number = float(value)
    fine = math.isfinite(number)
    return {
        "component": component,
        **place,
        "value": number if fine else None,
        "low": _finite(low),
        "high": _finite(high),
        "n": None if n is None else int(n),
        "status": str(Status.OK if fine else status),
        "reason": "" if fine else reading.reason or f"the value is {number}",
    }


def _statuses(part: Part, reading: Reading, count: int) -> list[Status]:
    """What to say of each element if it is not finite; `ok` cannot be said of one."""
    given = [reading.status] * count if isinstance(reading.status, Status) else list(reading.status)
    if len(given) != count:
        raise BadContract(
            f"{part.kind} {part.name!r} returned a status for some elements only",
            received=f"{len(given)} for {count}",
            allowed="one for all, or one an element in C order",
        )
    return [Status.NONFINITE if status is Status.OK else status for status in given]


def _finite(value: Any) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)


def null_row(part: Part, place: Place, draws: Tensor) -> tuple[Row, dict[str, Tensor]]:
    """One row for a null: the 99th percentile of its largest value over the place, and the draws by hash.

    Elements that are not finite are left out of the largest value; they stay in the draws.
    """
    draws = draws.to(torch.float32).cpu()
    largest = draws.reshape(len(draws), -1).nan_to_num(-math.inf, posinf=math.inf).amax(1)
    value = float(torch.quantile(largest, 0.99))
    fine = math.isfinite(value)
    name = array_hash(draws)
    row = {
        "component": f"null:{part.null}",
        **place,
        "value": value if fine else None,
        "n": len(draws),
        "status": str(Status.OK if fine else Status.NONFINITE),
        "reason": "99th percentile over draws of the largest value at this place"
        if fine
        else "no finite draw",
        "array": name,
    }
    return row, {name: draws}
