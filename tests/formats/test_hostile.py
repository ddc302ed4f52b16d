"""Files made to take all memory or time are refused within 2 s and 200 MB, in a process that is watched."""

import json
import subprocess
import sys

import pytest

from ontogeny.errors import Damaged

WATCHED = """
import resource, sys, time
from ontogeny import formats
from ontogeny.errors import Damaged
before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
try:
    formats.read(sys.argv[1])
except Damaged as error:
    print(str(error).splitlines()[1])
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(time.perf_counter() - start, (after - before) * 1024)
"""


def entry(shape, start, end):
    return {"dtype": "U8", "shape": shape, "data_offsets": [start, end]}


def long_header(path):
    length = 99_000_000
    with path.open("wb") as file:
        file.write(length.to_bytes(8, "little") + b"{")
        file.truncate(8 + length)


def many_tensors(path):
    header = json.dumps({f"t{i}": entry([0], 0, 0) for i in range(100_001)}, separators=(",", ":")).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header)


def many_escaped(path):
    """The same, written so that counting the usual words in the text finds none."""
    one = '"t%d":{"dtype":"U8","shape":[0],"data_offset\\u0073":[0,0]}'
    header = ("{" + ",".join(one % i for i in range(100_001)) + "}").encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header)


def vast_shape(path):
    header = json.dumps({"a": entry([10**9, 10**9], 0, 10**18)}).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header)


def overflowing_shape(path):
    header = json.dumps({"a": entry([2**32, 2**32], 0, 0)}).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header)


@pytest.mark.slow
@pytest.mark.parametrize("made", [long_header, many_tensors, many_escaped, vast_shape, overflowing_shape])
def test_a_hostile_file_is_refused_at_once(tmp_path, made):
    made(tmp_path / "model.safetensors")
    ended = subprocess.run(
        [sys.executable, "-c", WATCHED, str(tmp_path / "model.safetensors")], capture_output=True, text=True
    )
    cause, numbers = ended.stdout.splitlines()
    seconds, extra = map(float, numbers.split())
    assert "received" in cause
    assert seconds < 2, cause
    assert extra < 200e6, cause


@pytest.mark.parametrize("made", [long_header, many_tensors, vast_shape, overflowing_shape])
def test_the_refusal_names_the_file(tmp_path, made):
    from ontogeny import formats

    made(tmp_path / "model.safetensors")
    with pytest.raises(Damaged, match=r"model\.safetensors is not a whole"):
        formats.read(tmp_path / "model.safetensors")
