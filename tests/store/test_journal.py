import errno
import math
import os
import struct
import threading
import time
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontogeny.errors import BadContract, DiskFull, NotARun, NotWritable, OntogenyError, RunExists, UnknownName
from ontogeny.store import files, journal
from ontogeny.store.compaction import compact_journal
from ontogeny.store.frames import Kind, frame
from ontogeny.store.journal import JournalWriter, read_journal, verify_journal

INTEGERS = st.integers(-(1 << 63), (1 << 64) - 1)
TEXT = st.text(st.characters(codec=None), max_size=6)
NAMES = st.one_of(
    st.sampled_from(["loss", "step", "seconds", "metric:step", "", "\0", "CON", "..", "<b>"]), TEXT
)
VALUES = st.one_of(st.floats(), INTEGERS, st.booleans(), TEXT)
STEPS = st.integers(-(1 << 63), (1 << 63) - 1)
RECORDS = st.lists(st.tuples(STEPS, st.dictionaries(NAMES, VALUES, max_size=4)), max_size=12)


def bits(value):
    """A value with its kind, floats by their bits."""
    if isinstance(value, bool | np.bool_):
        return "bool", bool(value)
    if isinstance(value, str):
        return "str", value
    if isinstance(value, int | np.integer):
        return "int", int(value)
    return "float", struct.pack("<d", value)


def records(read, names=None):
    """A journal as the list of steps and values that were appended."""
    found = [(int(step), {}) for step in read.steps]
    for name in read.names if names is None else names:
        rows, values = read.column(name)
        assert np.all(rows[1:] > rows[:-1])
        for row, value in zip(rows.tolist(), values, strict=True):
            found[row][1][name] = bits(value)
    return found


def expected(appended):
    return [(step, {name: bits(value) for name, value in values.items()}) for step, values in appended]


def write(path, appended, **options):
    with JournalWriter(path) as writer:
        for step, values in appended:
            writer.append(step, values, **options)
    return path


@given(RECORDS, st.booleans())
@settings(max_examples=50, deadline=None)
def test_any_records_come_back_bit_for_bit_in_both_forms(tmp_path_factory, appended, noted):
    path = tmp_path_factory.mktemp("journal") / "000.journal"
    with JournalWriter(path) as writer:
        for step, values in appended:
            writer.append(step, values)
            if noted:
                writer.note("seen", at=step, loss=math.nan)
    read = read_journal(path)
    assert records(read) == expected(appended)
    assert (read.damage, read.waiting) == ((), 0)
    assert [note.data["at"] for note in read.notes] == [step for step, _ in appended if noted]
    compacted = compact_journal(path)
    assert (compacted.name, path.exists()) == ("000.parquet", False)
    again = read_journal(path)
    assert records(again) == expected(appended)
    for attribute in ("started", "names", "columns", "damage", "waiting"):
        assert getattr(again, attribute) == getattr(read, attribute)
    assert repr(again.notes) == repr(read.notes)  # NaN differs from itself
    for key in ("steps", "seconds", "sequences"):
        assert getattr(again, key).tobytes() == getattr(read, key).tobytes()
    assert again.frame().equals(read.frame())


@pytest.mark.parametrize("compacted", [False, True])
def test_every_bit_of_nonfinite_numbers_is_kept(tmp_path, compacted):
    patterns = [0x7FF0000000000001, 0x7FF8DEADBEEF0000, 0xFFF8000000000001, 0x7FF0000000000000]
    patterns += [0xFFF0000000000000, 1 << 63, 1, 0x800FFFFFFFFFFFFF]  # infinities, minus zero, denormals
    values = [struct.unpack("<d", struct.pack("<Q", pattern))[0] for pattern in patterns]
    path = write(tmp_path / "0.journal", [(i, {"x": value}) for i, value in enumerate(values)])
    if compacted:
        compact_journal(path)
    rows, read = read_journal(path).column("x")
    assert rows.tolist() == list(range(len(values)))
    assert read.view(np.uint64).tolist() == patterns


def test_absent_is_not_nan(tmp_path):
    path = write(tmp_path / "0.journal", [(0, {"a": math.nan}), (1, {"b": 1}), (2, {"a": 2.0, "b": 3})])
    for _ in range(2):
        read = read_journal(path)
        rows, values = read.column("a")
        assert rows.tolist() == [0, 2]
        assert math.isnan(values[0])
        frame = read.frame()
        assert list(frame) == ["step", "seconds", "sequence", "a", "b"]
        assert frame["b"].isna().tolist() == [True, False, False]
        assert str(frame["b"].dtype) == "Int64"
        compact_journal(path)


def test_a_metric_may_be_called_like_a_key(tmp_path):
    read = read_journal(write(tmp_path / "0.journal", [(7, {"step": 1.5, "metric:step": 2.5})]))
    assert read.frame().iloc[0].to_dict() | {"seconds": 0, "sequence": 0} == {
        "step": 7,
        "seconds": 0,
        "sequence": 0,
        "metric:step": 1.5,
        "metric:metric:step": 2.5,
    }


def test_narrow_values_take_four_bytes_unless_they_do_not_fit(tmp_path):
    path = write(tmp_path / "0.journal", [(0, {"x": 0.1}), (1, {"x": math.inf})], narrow=["x"])
    assert read_journal(path).column("x")[1].dtype == np.float32
    path = write(tmp_path / "1.journal", [(0, {"x": 0.1}), (1, {"x": 1e300}), (2, {"x": 0.1})], narrow={"x"})
    assert read_journal(path).column("x")[1].tolist() == [float(np.float32(0.1)), 1e300, 0.1]
    path = write(tmp_path / "2.journal", [(0, {"x": np.float32(0.1), "y": np.int64(3), "z": np.bool_(1)})])
    values = [read_journal(path).column(name)[1] for name in "xyz"]
    assert [value.dtype.name for value in values] == ["float32", "int64", "bool"]


def test_hashes_and_mixed_kinds_keep_their_values(tmp_path):
    path = write(tmp_path / "0.journal", [(i, {"h": value}) for i, value in enumerate([3, 1 << 63, 5])])
    assert read_journal(path).column("h")[1].dtype == np.uint64
    assert read_journal(path).column("h")[1].tolist() == [3, 1 << 63, 5]
    mixed = [(1 << 53) + 1, 0.5, -1, True, "text", 1 << 63]
    path = write(tmp_path / "1.journal", [(i, {"h": value}) for i, value in enumerate(mixed)])
    assert list(map(bits, read_journal(path).column("h")[1])) == list(map(bits, mixed))


def test_what_cannot_be_recorded_is_refused_and_the_rest_goes_on(tmp_path):
    with JournalWriter(tmp_path / "0.journal") as writer:
        for value in (None, 1 << 64, -(1 << 63) - 1, 1j, [1], b"x"):
            with pytest.raises(BadContract, match="'x'"):
                writer.append(0, {"x": value})
        for step in (1 << 63, 0.5, "3"):
            with pytest.raises(BadContract, match="step"):
                writer.append(step, {"x": 1.0})
        with pytest.raises(BadContract, match="not a string"):
            writer.append(0, {3: 1.0})
        with pytest.raises(BadContract, match="too long"):
            writer.append(0, {"x": "a" * (1 << 24)})
        writer.append(5, {"x": 1.0})
    read = read_journal(tmp_path / "0.journal")
    assert (records(read), read.damage) == (expected([(5, {"x": 1.0})]), ())


def test_only_the_names_asked_for_are_read(tmp_path):
    path = write(tmp_path / "0.journal", [(i, {"a": i, "b": 2.0}) for i in range(10)])
    for _ in range(2):
        read = read_journal(path, ["b"])
        assert read.names == ("a", "b")
        assert read.column("b")[1].tolist() == [2.0] * 10
        assert list(read.frame()) == ["step", "seconds", "sequence", "b"]
        with pytest.raises(UnknownName, match="'a'"):
            read.column("a")
        compact_journal(path)


def test_neither_form_is_named(tmp_path):
    with pytest.raises(NotARun, match=r"0\.journal"):
        read_journal(tmp_path / "0.journal")
    with pytest.raises(NotARun, match=r"0\.parquet"):
        compact_journal(tmp_path / "0.journal")


def test_one_attempt_one_writer(tmp_path):
    path = write(tmp_path / "0.journal", [(0, {"a": 1})])
    with pytest.raises(RunExists, match="exists"):
        JournalWriter(path)
    compact_journal(path)
    with pytest.raises(RunExists, match="compacted"):
        JournalWriter(path)
    with pytest.raises(NotWritable, match="missing"):
        JournalWriter(tmp_path / "missing" / "0.journal")


def test_a_closed_journal_takes_no_more(tmp_path):
    writer = JournalWriter(tmp_path / "0.journal")
    writer.close()
    writer.close()
    with pytest.raises(OntogenyError, match="closed"):
        writer.append(0, {})
    with pytest.raises(OntogenyError, match="closed"):
        writer.note("late")


def test_clock_jumps_change_neither_order_nor_durations(tmp_path, monkeypatch):
    wall = iter([1e9, 1e9 - 3600, 1e9 + 86400, 0.0] + [5.0] * 50)
    monkeypatch.setattr(time, "time", lambda: next(wall))
    with JournalWriter(tmp_path / "0.journal") as writer:
        for step in (5, 3, 3, -1, 1 << 62):
            writer.append(step, {})
            time.time()
    read = read_journal(tmp_path / "0.journal")
    assert read.started == 1e9
    assert read.steps.tolist() == [5, 3, 3, -1, 1 << 62]
    assert read.seconds[0] >= 0
    assert np.all(np.diff(read.seconds) >= 0)
    assert np.all(np.diff(read.sequences.astype(int)) > 0)


def test_a_reader_of_a_live_journal_sees_every_acknowledged_record(tmp_path):
    path = tmp_path / "0.journal"
    with JournalWriter(path) as writer:
        for count in range(1, 60):
            writer.append(count, {"x": float(count), "s": str(count % 7)})
            read = read_journal(path)
            assert (len(read), read.damage, read.waiting) == (count, (), 0)


def frame_ends(path, appended):
    """Write records one by one; how long the file was after each."""
    ends = []
    with JournalWriter(path) as writer:
        for step, values in appended:
            writer.append(step, values)
            ends.append(path.stat().st_size)
    return ends


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


def test_a_journal_cut_anywhere_is_the_exact_prefix(tmp_path, cuts):
    path, appended = tmp_path / "0.journal", varied(150)
    ends = frame_ends(path, appended)
    wanted = expected(appended)
    for length in cuts(path):
        read = read_journal(path)
        whole = sum(end <= length for end in ends)
        assert len(read) == whole
        assert (read.damage, read.waiting < 200) == ((), True)
        if length % 29 == 0:
            assert records(read) == wanted[:whole]
            assert read.waiting > 0 or length in ends or whole == len(ends)


def one_flip_costs_at_most_its_record(path, appended, flips, count):
    wanted = expected(appended)
    for place in flips(path, count):
        read = read_journal(path)
        assert read.damage, place
        assert all(damage.file == path.name for damage in read.damage)
        first = read.damage[0]
        assert first.offset <= place < first.offset + max(first.length, 1)
        assert len(read.damage) == 1
        got = records(read)
        assert len(got) >= len(wanted) - 1
        missing = next((i for i, (a, b) in enumerate(zip(got, wanted, strict=False)) if a != b), len(got))
        assert got == wanted if len(got) == len(wanted) else got == wanted[:missing] + wanted[missing + 1 :]
        assert [str(damage) for damage in verify_journal(path)] == [str(damage) for damage in read.damage]


@pytest.mark.parametrize("count", [100, pytest.param(1000, marks=pytest.mark.slow)])
def test_every_flipped_bit_is_found_and_costs_at_most_its_record(tmp_path, flips, count):
    appended = varied(60)
    one_flip_costs_at_most_its_record(write(tmp_path / "0.journal", appended), appended, flips, count)


def test_a_lost_stretch_is_skipped_and_the_lost_frames_are_counted(tmp_path):
    path = tmp_path / "0.journal"
    ends = frame_ends(path, [(step, {"x": float(step)}) for step in range(100)])
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


def test_definitions_that_are_lost_where_they_stand_first_are_found_later(tmp_path, monkeypatch):
    path = tmp_path / "0.journal"
    monkeypatch.setattr(journal, "REPEAT_EVERY", 1000)
    appended = [(step, {"x": float(step), "s": "text"}) for step in range(300)]
    ends = frame_ends(path, appended)
    data = bytearray(path.read_bytes())
    data[: ends[0]] = bytes(ends[0])
    path.write_bytes(data)
    read = read_journal(path)
    assert records(read) == expected(appended[1:])
    assert not math.isnan(read.started)
    assert len(read.damage) == 1


def test_values_whose_definition_is_gone_are_reported(tmp_path):
    path = tmp_path / "0.journal"
    with JournalWriter(path) as writer:
        for step in range(10):
            writer.append(step, {"x": 1.0})
        writer.append(11, {"y": "lost"})
        end = path.stat().st_size
        os.truncate(path, end)
    data = path.read_bytes()[:end]  # without the repetition at the end
    start = data.index(b"lost") - 20
    path.write_bytes(data.replace(b"lost", b"lots"))
    read = read_journal(path)
    assert len(read) == 11
    assert read.column("y")[0].tolist() == []
    assert any("string 3" in damage.what for damage in read.damage)
    assert read.damage[0].offset == start


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


@pytest.mark.parametrize("stays", [False, True])
def test_the_kth_failure_loses_no_acknowledged_record_and_the_writer_goes_on(tmp_path, disk, code, stays):
    named = OntogenyError if code == errno.EIO else DiskFull
    for at in range(1, 100):
        path, kept = tmp_path / f"{at}.journal", []
        disk.arm(at, code, stays)
        try:
            writer = JournalWriter(path)
        except OntogenyError:
            assert not path.exists()
            continue
        for step in range(3):
            try:
                writer.append(step, {"x": 1.0, "s": f"s{step}"})
                kept.append(step)
            except named:
                if stays:
                    disk.disarm()  # space was freed
        try:
            writer.close()
        except OntogenyError:
            assert disk.struck
        disk.disarm()
        read = read_journal(path)
        assert (read.steps.tolist(), read.damage, read.waiting) == (kept, (), 0)
        if not disk.struck:
            break
    assert kept == [0, 1, 2]
    assert at > 20


def test_what_the_background_fsync_meets_is_raised_at_the_next_call(tmp_path, monkeypatch):
    monkeypatch.setattr(journal, "SYNC_SECONDS", 0.0)
    writer = JournalWriter(tmp_path / "0.journal")
    asked = threading.Event()

    def broken(descriptor):
        asked.set()
        raise OSError(errno.EIO, "dying")

    monkeypatch.setattr(files, "raw_fsync", broken)
    writer.append(0, {})
    assert asked.wait(5)
    with pytest.raises(OntogenyError, match="EIO"):  # noqa: PT012  # the thread needs a moment to tell
        for step in range(1000):
            writer.append(step, {})
            time.sleep(0.001)
    with pytest.raises(OntogenyError, match="EIO"):
        writer.close()


def test_the_disk_is_synced_about_once_a_second_and_never_by_the_loop(tmp_path, monkeypatch):
    callers, fsync = [], files.raw_fsync
    monkeypatch.setattr(
        files, "raw_fsync", lambda fd: (callers.append(threading.current_thread()), fsync(fd))
    )
    with JournalWriter(tmp_path / "0.journal") as writer:
        callers.clear()
        began = time.monotonic()
        while time.monotonic() - began < 1.5:
            writer.append(0, {})
            time.sleep(0.001)
        assert 1 <= len(callers) <= 2
        assert threading.main_thread() not in callers


def test_forked_processes_write_nothing_and_never_hang(tmp_path):
    path = tmp_path / "0.journal"
    with JournalWriter(path) as writer:
        busy = threading.Event()

        def append_on():
            while not busy.is_set():
                writer.append(1, {"x": 1.0})
                time.sleep(0)

        thread = threading.Thread(target=append_on)
        thread.start()
        for _ in range(25):
            child = os.fork()
            if child == 0:
                writer.append(2, {"child": 1.0})
                writer.note("child")
                writer.close()
                os._exit(0)
            deadline = time.monotonic() + 10
            while os.waitpid(child, os.WNOHANG)[0] == 0:
                assert time.monotonic() < deadline, "a forked child hangs"
                time.sleep(0.001)
        busy.set()
        thread.join()
    read = read_journal(path)
    assert set(read.steps.tolist()) == {1}
    assert (read.names, read.notes, read.damage) == (("x",), (), ())


def test_threads_may_share_a_writer(tmp_path):
    with JournalWriter(tmp_path / "0.journal") as writer:

        def append(thread):
            for step in range(300):
                writer.append(step, {f"x{thread}": float(step)})

        threads = [threading.Thread(target=append, args=[number]) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    read = read_journal(tmp_path / "0.journal")
    assert read.damage == ()
    for number in range(4):
        assert read.column(f"x{number}")[1].tolist() == list(range(300))


def test_ever_new_names_and_texts_stay_readable(tmp_path, monkeypatch):
    monkeypatch.setattr(journal, "REMEMBERED", 10)
    monkeypatch.setattr(journal, "REPEAT_EVERY", 500)
    appended = [(step, {f"x{step % 37}": 1.0, "s": f"text {step % 41}"}) for step in range(200)]
    path = write(tmp_path / "0.journal", appended)
    assert records(read_journal(path)) == expected(appended)


def test_memory_follows_the_columns_asked_for(tmp_path):
    path = write(tmp_path / "0.journal", [(i, {f"m{j}": 1.0 for j in range(20)}) for i in range(5000)])
    one, every = read_journal(path, ["m3"]), read_journal(path)
    size = lambda read: sum(values.nbytes for _, values in read.cells.values())
    assert (size(one), size(every)) == (5000 * 8, 5000 * 8 * 20)


def test_appending_costs_at_most_15_microseconds_at_the_median(tmp_path):
    values = {f"metric/{i}": i / 7 for i in range(20)}
    costs = []
    with JournalWriter(tmp_path / "0.journal") as writer:
        for step in range(5000):
            began = time.perf_counter()
            writer.append(step, values)
            costs.append(time.perf_counter() - began)
    assert np.median(costs) < 15e-6
    assert (tmp_path / "0.journal").stat().st_size < 200 * 5000 + 4096


def test_the_layout_of_a_frame_is_the_documented_one(tmp_path):
    path = write(tmp_path / "0.journal", [(7, {"x": 1.5})])
    data = path.read_bytes()
    start = data.index(struct.pack("<qd", 7, 0.0)[:8]) - 20
    assert data[start : start + 4] == b"\xffJ\x0e\x04"
    crc, length, sequence = struct.unpack_from("<III", data, start + 4)
    body = data[start : start + 4] + data[start + 8 : start + 16 + (length & 0xFFFFFF)]
    assert (crc, length & 0xFFFFFF, sequence) == (zlib.crc32(body), 28, 4)
    assert struct.unpack_from("<d", data, start + 36)[0] == 1.5


@pytest.mark.slow
def test_a_million_records_of_twenty_metrics(tmp_path):
    path, names, rng = tmp_path / "0.journal", [f"metric/{i}" for i in range(20)], np.random.default_rng(0)
    with JournalWriter(path) as writer:
        for first in range(0, 1_000_000, 10_000):
            for step, row in enumerate(rng.standard_normal((10_000, 20)).tolist(), first):
                writer.append(step, dict(zip(names, row, strict=True)))
    assert path.stat().st_size <= 200e6
    began = time.monotonic()
    read = read_journal(path)
    assert time.monotonic() - began < 10
    assert (len(read), read.damage) == (1_000_000, ())
    compacted = compact_journal(path)
    assert compacted.stat().st_size / 20e6 <= 10
    again = read_journal(path)
    assert all(np.array_equal(again.column(name)[1], read.column(name)[1]) for name in names)
