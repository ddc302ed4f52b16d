import json
import resource
import struct
import time

import pytest
import torch
from safetensors.torch import load_file, save_file

from ontogeny.errors import BadContract, Damaged, NotARun
from ontogeny.store.files import write_file
from ontogeny.store.tensorfile import read_header, read_tensor, storable, write_tensors

TENSORS = {
    "b": torch.tensor([True, False, True]),
    "scalar": torch.tensor(3.5),
    "empty": torch.empty(0, 4),
    "half": torch.randn(3, 5).bfloat16(),
    "f16": torch.randn(1).half(),
    "f8": torch.randn(7).to(torch.float8_e4m3fn),
    "u64": torch.tensor([2**63 - 1]).to(torch.uint64),
    "i8": torch.tensor([[-3]], dtype=torch.int8),
    "double": torch.tensor([float("nan"), -0.0, float("inf"), 5e-324], dtype=torch.float64),
    "\0<b>é": torch.arange(3),
}


def raw(tensor):
    return tensor.contiguous().view(-1).view(torch.uint8).tolist() if tensor.numel() else []


def same(a, b):
    return (a.dtype, a.shape, raw(a)) == (b.dtype, b.shape, raw(b))


def write(path, tensors):
    write_file(path, lambda file: write_tensors(file, tensors, {"format": "pt"}))
    return path


def read(path):
    with open(path, "rb") as file:
        return {name: read_tensor(file, span) for name, span in read_header(path).items()}


def test_the_library_reads_what_is_written_and_the_other_way_round(tmp_path):
    theirs = load_file(write(tmp_path / "a.safetensors", TENSORS))
    assert all(same(theirs[name], tensor) for name, tensor in TENSORS.items())
    save_file(TENSORS, tmp_path / "b.safetensors", metadata={"format": "pt"})
    ours = read(tmp_path / "b.safetensors")
    assert set(ours) == set(TENSORS)
    assert all(same(ours[name], tensor) for name, tensor in TENSORS.items())


def test_what_is_read_does_not_change_with_the_file(tmp_path):
    path = write(tmp_path / "a.safetensors", {"x": torch.zeros(1000)})
    held = read(path)["x"]
    with open(path, "r+b") as file:
        file.seek(-4000, 2)
        file.write(b"\xff" * 4000)
    assert torch.equal(held, torch.zeros(1000))
    held.add_(1)  # and it may be written to


class Sharded(torch.Tensor):
    """Stands for subclasses whose values lie elsewhere."""


@pytest.mark.parametrize(
    "tensor", [torch.eye(3).to_sparse(), torch.empty(3, device="meta"), torch.eye(3).as_subclass(Sharded)]
)
def test_tensors_without_bytes_of_their_own_are_refused_by_name(tensor):
    with pytest.raises(BadContract, match=r"'layer\.weight'"):
        storable(tensor, "layer.weight")


def hostile(path, header, data=b"", length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text) if length is None else length) + text + data)
    return path


def one(dtype="F32", shape=(1,), offsets=(0, 4)):
    return {"x": {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}}


HOSTILE = {
    "no bytes": (b"", b"", None),
    "longer than the file": (one(), b"\0" * 4, 1 << 62),
    "no json": (b"{", b"", None),
    "no object": ([1], b"", None),
    "deep": (b'{"x":' + b"[" * 90_000, b"", None),
    "huge shape": (one(shape=(10**9, 10**9), offsets=(0, 4)), b"\0" * 4, None),
    "overflowing shape": (one(shape=(2**33, 2**33), offsets=(0, 0)), b"", None),
    "negative": (one(shape=(-1, -1)), b"\0" * 4, None),
    "true for one": (one(shape=(True,)), b"\0" * 4, None),
    "unknown dtype": (one(dtype="F31"), b"\0" * 4, None),
    "gap": (one(offsets=(4, 8)), b"\0" * 8, None),
    "overlap": ({**one(), "y": one()["x"]}, b"\0" * 4, None),
    "more data": (one(), b"\0" * 5, None),
    "less data": (one(), b"\0" * 3, None),
    "no offsets": ({"x": {"dtype": "F32", "shape": [1]}}, b"\0" * 4, None),
    "an entry that is text": ({"x": "F32"}, b"\0" * 4, None),
    "three offsets": (one(offsets=(0, 2, 4)), b"\0" * 4, None),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_headers_that_lie_are_refused(tmp_path, case):
    header, data, length = HOSTILE[case]
    with pytest.raises(Damaged, match=r"a\.safetensors"):
        read_header(hostile(tmp_path / "a.safetensors", header, data, length))


def test_headers_that_cost_too_much_are_refused_at_once(tmp_path):
    path = tmp_path / "a.safetensors"
    empty = ",".join(f'"{i}":{{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}' for i in range(100_001))
    cases = {
        "99 MB": b'{"a":"' + b"x" * 99_000_000 + b'"}',
        "100,001 tensors": b"{" + empty.encode() + b"}",
        "lists": b'{"a":[' + b"[]," * 5_000_000 + b"[]]}",
        "strings": b'{"a":[' + b'"",' * 5_000_000 + b'""]}',
    }
    for text in cases.values():
        hostile(path, text)
        memory, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
        with pytest.raises(Damaged, match=r"a\.safetensors"):
            read_header(path)
        assert time.process_time() - began < 2
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < 200 << 10


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(NotARun, match=r"a\.safetensors"):
        read_header(tmp_path / "a.safetensors")


def test_a_reserved_name_is_refused(tmp_path):
    with pytest.raises(BadContract, match="__metadata__"):
        write(tmp_path / "a.safetensors", {"__metadata__": torch.ones(1)})
