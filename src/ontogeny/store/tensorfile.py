"""Safetensors files: written as a stream through the one write primitive, read into memory of their own.

The format is eight bytes of header length, a JSON header, and the tensors' bytes without gaps. It is read
and written here because the library's loader hands out views of the mapped file (which change, or crash
the process, when the file does), its writer passes the primitive by and copies everything first, and a
hostile header has to be refused before it is loaded anyway. Any safetensors reader reads these files.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import torch
from torch import Tensor

from ontogeny.errors import BadContract, Damaged, NotARun

#: No header of at most `MOST_TENSORS` tensors comes near; a longer one is an attack on memory or time.
LONGEST_HEADER = 32 << 20
MOST_TENSORS = 100_000

_DTYPES = {
    "C64": torch.complex64,
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "F8_E4M3": torch.float8_e4m3fn,
    "F8_E5M2": torch.float8_e5m2,
    "I64": torch.int64,
    "I32": torch.int32,
    "I16": torch.int16,
    "I8": torch.int8,
    "U64": torch.uint64,
    "U32": torch.uint32,
    "U16": torch.uint16,
    "U8": torch.uint8,
    "BOOL": torch.bool,
}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}


@dataclass(frozen=True)
class Span:
    """One tensor in a file: what it is, and where its bytes lie, counted from the start of the file."""

    dtype: torch.dtype
    shape: tuple[int, ...]
    start: int
    end: int


def storable(tensor: Tensor, name: str) -> Tensor:
    """`tensor` on the CPU, dense, contiguous, sharing nothing that matters; complex ones as pairs of reals.

    Raises BadContract for what has no bytes of its own (sparse, quantised, meta, sharded).
    """
    plain = tensor.layout is torch.strided and not tensor.is_quantized and tensor.device.type != "meta"
    if plain and type(tensor) in (Tensor, torch.nn.Parameter, torch.nn.Buffer):
        dense = tensor.detach().cpu().resolve_conj().resolve_neg().contiguous()
        dense = torch.view_as_real(dense) if dense.is_complex() else dense
        if dense.dtype in _NAMES:
            return dense
    raise BadContract(
        f"tensor {name!r} cannot be stored",
        received=f"{type(tensor).__name__}, {tensor.dtype}, {tensor.layout}, on {tensor.device}",
        allowed="a dense tensor that holds its own values",
        remedy="gather, densify or materialise it first",
    )


def write_tensors(file: BinaryIO, tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> None:
    """Write `storable` tensors as one safetensors file. Larger items come first, so that all are aligned."""
    if len(tensors) > MOST_TENSORS or "__metadata__" in tensors:
        raise BadContract(
            "these tensors make no safetensors file",
            received=f"{len(tensors):,} tensors",
            allowed=f"at most {MOST_TENSORS:,}, none of them called '__metadata__'",
        )
    order = sorted(tensors, key=lambda name: (-tensors[name].itemsize, name))
    header: dict[str, Any] = {"__metadata__": dict(metadata)}
    offset = 0
    for name in order:
        tensor, start = tensors[name], offset
        offset += tensor.numel() * tensor.itemsize
        header[name] = {
            "dtype": _NAMES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [start, offset],
        }
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    if len(text) > LONGEST_HEADER:
        raise BadContract(
            "the names of these tensors are too long", received=f"{len(text):,} bytes of header"
        )
    file.write(len(text).to_bytes(8, "little") + text)
    for name in order:
        file.write(raw_bytes(tensors[name]))


def raw_bytes(tensor: Tensor) -> memoryview:
    """The bytes of a contiguous CPU tensor, without a copy."""
    if tensor.numel() == 0:
        return memoryview(b"")
    return tensor.view(-1).view(torch.uint8).numpy().data


def read_header(path: Path | str) -> dict[str, Span]:
    """Where each tensor of a safetensors file lies, after every claim of the header has been checked.

    Nothing larger than the header is allocated. Raises Damaged for a header that is too long, lists more
    than 100,000 tensors, is not JSON, or whose shapes, offsets and file length do not agree; NotARun if
    there is no such file.
    """
    header, base, size = _parsed(Path(path))
    header.pop("__metadata__", None)
    spans = {name: _span(Path(path), name, entry, base) for name, entry in header.items()}
    _require_gapless(Path(path), spans, base, size)
    return spans


def read_metadata(path: Path | str) -> dict[str, str]:
    """The texts a header holds beside its tensors; errors as `read_header`."""
    held = _parsed(Path(path))[0].get("__metadata__")
    return (
        {name: text for name, text in held.items() if isinstance(text, str)} if isinstance(held, dict) else {}
    )


def _parsed(path: Path) -> tuple[dict[str, Any], int, int]:
    """A header, where the tensors begin, and the length of the file."""
    try:
        with open(path, "rb") as file:
            size = path.stat().st_size
            length = int.from_bytes(file.read(8), "little")
            if size < 8 or length > min(LONGEST_HEADER, size - 8):
                raise _refused(path, f"a header of {length:,} bytes in a file of {size:,}")
            text = file.read(length)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NotARun(f"there is no file {path}", remedy="check the path") from error
    _require_modest(path, text)
    try:
        header = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _refused(path, f"a header that is not JSON: {error}") from error
    if not isinstance(header, dict):
        raise _refused(path, "a header that is no object")
    if len(header) - ("__metadata__" in header) > MOST_TENSORS:
        raise _refused(path, f"{len(header):,} tensors")
    return header, 8 + length, size


def read_tensor(file: BinaryIO, span: Span) -> Tensor:
    """One tensor, in fresh memory. Raises EOFError if the file has become shorter than its header said."""
    tensor = torch.empty(span.shape, dtype=span.dtype)
    view, done = raw_bytes(tensor), 0
    file.seek(span.start)
    while done < len(view):
        count = file.readinto(view[done:])  # pyright: ignore[reportAttributeAccessIssue]
        if not count:
            raise EOFError(f"{span.end - span.start - done} bytes are missing")
        done += count
    return tensor


def _require_modest(path: Path, text: bytes) -> None:
    """Refuse, before parsing, a header whose parsed form would take far more memory than its text."""
    objects = text.count(b"{") - 1 - (b'"__metadata__"' in text)
    if objects > MOST_TENSORS:
        raise _refused(path, f"{objects:,} tensors")
    for mark in b'"', b"[", b"{", b",", b":":
        if text.count(mark) > 16 * MOST_TENSORS:
            raise _refused(path, f"a header with {text.count(mark):,} times {mark.decode()}")


def _span(path: Path, name: str, entry: Any, base: int) -> Span:
    try:
        dtype, shape, (start, end) = _DTYPES[entry["dtype"]], entry["shape"], entry["data_offsets"]
    except (KeyError, TypeError, ValueError) as error:
        raise _refused(path, f"tensor {name!r} described as {str(entry)[:100]}") from error
    whole = isinstance(shape, list) and all(type(n) is int and 0 <= n < 1 << 63 for n in [*shape, start, end])
    if not whole or math.prod(shape) * dtype.itemsize != end - start:
        raise _refused(path, f"tensor {name!r} described as {str(entry)[:100]}")
    return Span(dtype, tuple(shape), base + start, base + end)


def _require_gapless(path: Path, spans: Mapping[str, Span], base: int, size: int) -> None:
    position = base
    for name, span in sorted(spans.items(), key=lambda item: (item[1].start, item[1].end)):
        if span.start != position:
            raise _refused(path, f"tensor {name!r} at byte {span.start:,}, after byte {position:,}")
        position = span.end
    if position != size:
        raise _refused(path, f"tensors up to byte {position:,} of {size:,}")


def _refused(path: Path, received: str) -> Damaged:
    return Damaged(
        f"{path} is not a whole safetensors file",
        received=received,
        allowed=f"a header of at most {LONGEST_HEADER:,} bytes, {MOST_TENSORS:,} tensors, no gaps",
        remedy="restore the file from a copy; do not load it by other means",
    )
