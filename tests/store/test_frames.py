import os
import struct
import zlib

import pytest

from ontogeny.store.frames import Kind, frame
from ontogeny.store.journal import JournalWriter, read_journal, verify_journal


def one_flip_costs_at_most_its_record(path, appended, flips, count, telemetry):
    wanted = telemetry.expected(appended)
    for place in flips(path, count):
        read = read_journal(path)
        assert read.damage, place
        assert all(damage.file == path.name for damage in read.damage)
        first = read.damage[0]
        assert first.offset <= place < first.offset + max(first.length, 1)
        assert len(read.damage) == 1
        got = telemetry.records(read)
        assert len(got) >= len(wanted) - 1
        missing = next((i for i, (a, b) in enumerate(zip(got, wanted, strict=False)) if a != b), len(got))
        assert got == wanted if len(got) == len(wanted) else got == wanted[:missing] + wanted[missing + 1 :]
        assert [str(damage) for damage in verify_journal(path)] == [str(damage) for damage in read.damage]


def test_a_journal_cut_anywhere_is_the_exact_prefix(tmp_path, cuts, telemetry):
    path, appended = tmp_path / "0.journal", telemetry.varied(150)
    ends = telemetry.frame_ends(path, appended)
    wanted = telemetry.expected(appended)
    for length in cuts(path):
        read = read_journal(path)
        whole = sum(end <= length for end in ends)
        assert len(read) == whole
        assert (read.damage, read.waiting < 200) == ((), True)
        if length % 29 == 0:
            assert telemetry.records(read) == wanted[:whole]
            assert read.waiting > 0 or length in ends or whole == len(ends)


@pytest.mark.parametrize("count", [100, pytest.param(1000, marks=pytest.mark.slow)])
def test_every_flipped_bit_is_found_and_costs_at_most_its_record(tmp_path, flips, count, telemetry):
    appended = telemetry.varied(60)
    one_flip_costs_at_most_its_record(
        telemetry.write(tmp_path / "0.journal", appended), appended, flips, count, telemetry
    )


def test_a_lost_stretch_is_skipped_and_the_lost_frames_are_counted(tmp_path, telemetry):
    path = tmp_path / "0.journal"
    ends = telemetry.frame_ends(path, [(step, {"x": float(step)}) for step in range(100)])
    data = bytearray(path.read_bytes())
    data[ends[9] : ends[29]] = os.urandom(ends[29] - ends[9])
    path.write_bytes(data)
    read = read_journal(path)
    assert read.steps.tolist() == [*range(10), *range(30, 100)]
    (damage,) = read.damage
    assert (damage.offset, damage.length) == (ends[9], ends[29] - ends[9])
    assert damage.what == "frame 14 to 33 cannot be read"  # after two headers and two schemas
    path.write_bytes(data[: ends[9]] + data[ends[29] :])
    assert [damage.what for damage in read_journal(path).damage] == ["frame 14 to 33 cannot be read"]


def test_text_cannot_pass_for_a_frame(tmp_path):
    forged = frame(Kind.NOTE, 99, struct.pack("<d", 0.0) + b'{"kind": "forged", "data": {}}')
    path = tmp_path / "0.journal"
    with JournalWriter(path) as writer:
        writer.append(0, {"x": forged.decode("latin-1")})
        writer.note("real", text=forged.decode("latin-1"))
    data = bytearray(path.read_bytes())
    data[data.rindex(b'"kind": "real"')] ^= 1
    path.write_bytes(data)
    assert read_journal(path).notes == ()


def test_the_layout_of_a_frame_is_the_documented_one(tmp_path, telemetry):
    path = telemetry.write(tmp_path / "0.journal", [(7, {"x": 1.5})])
    data = path.read_bytes()
    start = data.index(struct.pack("<qd", 7, 0.0)[:8]) - 20
    assert data[start : start + 4] == b"\xffJ\x0e\x04"
    crc, length, sequence = struct.unpack_from("<III", data, start + 4)
    body = data[start : start + 4] + data[start + 8 : start + 16 + (length & 0xFFFFFF)]
    assert (crc, length & 0xFFFFFF, sequence) == (zlib.crc32(body), 28, 4)
    assert struct.unpack_from("<d", data, start + 36)[0] == 1.5
