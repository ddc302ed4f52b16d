"""What the tests of the store share: a disk that fails, bits that flip, files cut short."""

import errno
import math
import os
import random
import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from failing_disk import CODES, FailingDisk
from ontogeny.store.journal import JournalWriter


@pytest.fixture(autouse=True)
def _one_thread():
    torch.set_num_threads(1)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> FailingDisk:
    return FailingDisk(monkeypatch)


@pytest.fixture(params=CODES, ids=errno.errorcode.get)
def code(request: pytest.FixtureRequest) -> int:
    return request.param


@pytest.fixture
def flips():
    """`flips(path, count)` flips one random bit of the file at a time, yields its byte, and restores it."""

    def flip(path: Path, count: int, seed: int = 0) -> Iterator[int]:
        whole, rng = path.read_bytes(), random.Random(seed)
        for _ in range(count):
            place, bit = rng.randrange(len(whole)), rng.randrange(8)
            changed = bytearray(whole)
            changed[place] ^= 1 << bit
            path.write_bytes(changed)
            yield place
        path.write_bytes(whole)

    return flip


@pytest.fixture
def cuts():
    """`cuts(path, every)` shortens the file to each of its last 4 KiB of lengths, from long to short."""

    def cut(path: Path, every: int = 1) -> Iterator[int]:
        whole = path.read_bytes()
        for length in range(len(whole) - 1, max(-1, len(whole) - 4097), -every):
            os.truncate(path, length)
            yield length
        path.write_bytes(whole)

    return cut


class Telemetry:
    """What tests of journals share: records as a plain list, written, read back, compared by their bits."""

    @staticmethod
    def bits(value):
        """A value with its kind, floats by their bits."""
        if isinstance(value, bool | np.bool_):
            return "bool", bool(value)
        if isinstance(value, str):
            return "str", value
        if isinstance(value, int | np.integer):
            return "int", int(value)
        return "float", struct.pack("<d", value)

    @staticmethod
    def records(read, names=None):
        """A journal as the list of steps and values that were appended."""
        found = [(int(step), {}) for step in read.steps]
        for name in read.names if names is None else names:
            rows, values = read.column(name)
            assert np.all(rows[1:] > rows[:-1])
            for row, value in zip(rows.tolist(), values, strict=True):
                found[row][1][name] = Telemetry.bits(value)
        return found

    @staticmethod
    def expected(appended):
        return [
            (step, {name: Telemetry.bits(value) for name, value in values.items()})
            for step, values in appended
        ]

    @staticmethod
    def write(path, appended, **options):
        with JournalWriter(path) as writer:
            for step, values in appended:
                writer.append(step, values, **options)
        return path

    @staticmethod
    def frame_ends(path, appended):
        """Write records one by one; how long the file was after each."""
        ends = []
        with JournalWriter(path) as writer:
            for step, values in appended:
                writer.append(step, values)
                ends.append(path.stat().st_size)
        return ends

    @staticmethod
    def varied(count):
        rng = np.random.default_rng(0)
        rows = []
        for step in range(count):
            values = {
                "loss": float(rng.standard_normal()),
                "hash": int(rng.integers(1 << 63)),
                "text": f"t{step % 5}",
            }
            rows.append((step, {"odd": math.nan} if step % 10 == 3 else values))
        return rows


@pytest.fixture(scope="session")
def telemetry() -> type[Telemetry]:
    return Telemetry
