"""Strict JSON on disk: every parser reads it, non-finite numbers survive, a seal finds a changed byte.

`NaN`, `Infinity` and `-Infinity` are no JSON, so they are written as `{"nonfinite": "NaN"}` and so on. A
dictionary whose only key is `nonfinite` is wrapped in another, so that nothing a user stores is mistaken.
"""

import json
import math
from pathlib import Path
from typing import Any

import xxhash

from ontogeny.errors import BadContract, Damaged, NotARun
from ontogeny.store.files import Written, write_file

_TAG, _SEAL = "nonfinite", "seal"
_NONFINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def write_json(path: Path | str, document: Any, *, seal: bool = False) -> Written:
    """Write `document` as strict JSON through `write_file`; see there for the errors.

    With `seal`, a dictionary gains the key `seal`, the xxh3-128 of the rest of the file, and `read_json`
    with `seal` refuses the file if any byte of it has changed. Tuples come back as lists, NaN payloads are
    lost. Raises BadContract for what JSON cannot hold (keys that are not strings, objects).
    """
    return write_file(path, sealed_bytes(document) if seal else json_bytes(document))


def read_json(path: Path | str, *, seal: bool = False) -> Any:
    """What `write_json` wrote. Raises NotARun if there is no such file, Damaged if it is not strict JSON
    or, with `seal`, is not byte for byte what was written."""
    path = Path(path)
    try:
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
        raise NotARun(f"there is no file {path}", remedy="check the path") from error
    return parse_sealed(data, str(path)) if seal else parse_json(data, str(path))


def json_bytes(document: Any, indent: int | None = 1) -> bytes:
    """`document` as strict ASCII JSON in the order of its keys, one entry a line unless `indent` is None."""
    return (json.dumps(_tagged(document, "document"), allow_nan=False, indent=indent) + "\n").encode("ascii")


def sealed_bytes(document: dict[str, Any]) -> bytes:
    """`document` as JSON with its own hash under `seal`."""
    if not isinstance(document, dict) or _SEAL in document:
        raise BadContract("only a dictionary without the key 'seal' can be sealed", received=type(document))
    return json_bytes({**document, _SEAL: xxhash.xxh3_128_hexdigest(json_bytes(document))})


def parse_json(data: bytes | str, origin: str) -> Any:
    """Undo `json_bytes`; `origin` is what an error names. Raises Damaged."""
    try:
        return _untagged(json.loads(data, parse_constant=_refuse_constant))
    except (ValueError, RecursionError) as error:
        raise Damaged(f"{origin} is not strict JSON", received=str(error)[:200]) from error


def parse_sealed(data: bytes, origin: str) -> dict[str, Any]:
    """Undo `sealed_bytes`. Raises Damaged unless `data` is byte for byte what that returned."""
    document = parse_json(data, origin)
    whole = isinstance(document, dict) and document.pop(_SEAL, None) is not None
    if not whole or not (_ends_in_seal(data) or sealed_bytes(document) == data):
        raise Damaged(
            f"{origin} is not what was written: its seal does not match",
            remedy="restore it from a copy; sealed files are not edited by hand",
        )
    return document


def _ends_in_seal(data: bytes) -> bool:
    """Whether the last entry is the hash of all others; much faster than to write the document again."""
    length = len(_last_entry(""))
    seal = xxhash.xxh3_128_hexdigest(data[:-length] + b"\n}\n")
    return data[-length:] == _last_entry(seal)


def _last_entry(seal: str) -> bytes:
    return f',\n "{_SEAL}": "{seal:0>32}"\n}}\n'.encode("ascii")


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _tagged(value: Any, where: str) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return {_TAG: "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"}
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise BadContract(f"{where} has a key that is not a string", received=repr(key))
        inner = {key: _tagged(item, f"{where}[{key!r}]") for key, item in value.items()}
        return {_TAG: inner} if list(value) == [_TAG] else inner
    if isinstance(value, list | tuple):
        return [_tagged(item, f"{where}[{index}]") for index, item in enumerate(value)]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise BadContract(
        f"{where} cannot be written as JSON",
        received=type(value).__name__,
        allowed="None, bool, int, float, str, and lists and string-keyed dictionaries of them",
        remedy="convert it first, for example with .item() or .tolist()",
    )


def _untagged(value: Any) -> Any:
    if isinstance(value, list):
        return [_untagged(item) for item in value]
    if not isinstance(value, dict):
        return value
    if list(value) != [_TAG]:
        return {key: _untagged(item) for key, item in value.items()}
    inner = value[_TAG]
    if isinstance(inner, str) and inner in _NONFINITE:
        return _NONFINITE[inner]
    if isinstance(inner, dict) and list(inner) == [_TAG]:
        return {_TAG: _untagged(inner[_TAG])}
    raise ValueError(f"{{'nonfinite': {inner!r}}} is no tagged number")
