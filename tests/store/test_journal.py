import errno
import linecache
import math
import os
import signal
import sys
import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontogeny.errors import (
    BadContract,
    DiskFull,
    NotARun,
    NotWritable,
    OntogenyError,
    RunExists,
)
from ontogeny.store import files, journal
from ontogeny.store.compaction import compact_journal
from ontogeny.store.journal import JournalWriter, read_journal

INTEGERS = st.integers(-(1 << 63), (1 << 64) - 1)
TEXT = st.text(st.characters(codec=None), max_size=6)
NAMES = st.one_of(
    st.sampled_from(["loss", "step", "seconds", "metric:step", "", "\0", "CON", "..", "<b>"]), TEXT
)
VALUES = st.one_of(st.floats(), INTEGERS, st.booleans(), TEXT)
STEPS = st.integers(-(1 << 63), (1 << 63) - 1)
RECORDS = st.lists(st.tuples(STEPS, st.dictionaries(NAMES, VALUES, max_size=4)), max_size=12)


@given(RECORDS, st.booleans())
@settings(max_examples=50, deadline=None)
def test_any_records_come_back_bit_for_bit_in_both_forms(tmp_path_factory, telemetry, appended, noted):
    path = tmp_path_factory.mktemp("journal") / "000.journal"
    with JournalWriter(path) as writer:
        for step, values in appended:
            writer.append(step, values)
            if noted:
                writer.note("seen", at=step, loss=math.nan)
    read = read_journal(path)
    assert telemetry.records(read) == telemetry.expected(appended)
    assert (read.damage, read.waiting) == ((), 0)
    assert [note.data["at"] for note in read.notes] == [step for step, _ in appended if noted]
    compacted = compact_journal(path)
    assert (compacted.name, path.exists()) == ("000.parquet", False)
    again = read_journal(path)
    assert telemetry.records(again) == telemetry.expected(appended)
    for attribute in ("started", "names", "columns", "damage", "waiting"):
        assert getattr(again, attribute) == getattr(read, attribute)
    assert repr(again.notes) == repr(read.notes)  # NaN differs from itself
    for key in ("steps", "seconds", "sequences"):
        assert getattr(again, key).tobytes() == getattr(read, key).tobytes()
    assert again.frame().equals(read.frame())


def test_what_cannot_be_recorded_is_refused_and_the_rest_goes_on(tmp_path, telemetry):
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
    assert (telemetry.records(read), read.damage) == (telemetry.expected([(5, {"x": 1.0})]), ())


def test_neither_form_is_named(tmp_path):
    with pytest.raises(NotARun, match=r"0\.journal"):
        read_journal(tmp_path / "0.journal")
    with pytest.raises(NotARun, match=r"0\.parquet"):
        compact_journal(tmp_path / "0.journal")


def test_one_attempt_one_writer(tmp_path, telemetry):
    path = telemetry.write(tmp_path / "0.journal", [(0, {"a": 1})])
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


class InterruptedAtLine:
    """Raises KeyboardInterrupt before the nth line of the writer's own code that is run.

    Not at a `with`, whose line comes once more when it lets go of its lock, nor at a `try`: Python takes no
    signal there, and no handler covers them.
    """

    def __init__(self, nth: int) -> None:
        self.left = nth

    def __call__(self, frame, event, _):
        if frame.f_code.co_filename != journal.__file__:
            return None
        text = linecache.getline(journal.__file__, frame.f_lineno).lstrip()
        if event == "line" and not text.startswith(("with ", "try:")):
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
        return self


@pytest.mark.parametrize("torn", [False, True])
def test_an_interrupt_at_any_line_leaves_no_damage_and_the_writer_goes_on(tmp_path, monkeypatch, torn):
    """A second Ctrl-C may come between a write and its bookkeeping: no later frame may take its number."""
    plain = files.raw_write
    if torn:  # the system took a part, and the interrupt came before the rest
        monkeypatch.setattr(
            files, "raw_write", lambda where, data: plain(where, data[: max(1, len(data) // 2)])
        )
    for nth in range(1, 1000):
        path = tmp_path / f"{nth:03d}.journal"
        writer = JournalWriter(path)
        writer.append(1, {"loss": 1.0})
        interrupt = InterruptedAtLine(nth)
        sys.settrace(interrupt)
        try:
            writer.append(2, {"loss": 2.0, "name": "new", "norm": 3.0})
            writer.note("seen", at=2)
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(None)
        writer.append(3, {"loss": 3.0})
        writer.note("end")
        writer.close()
        read = read_journal(path)
        assert (read.damage, read.waiting) == ((), 0), nth
        assert read.steps.tolist() in ([1, 2, 3], [1, 3]), nth
        if interrupt.left > 0:
            break
    assert nth > 60
    assert read.steps.tolist() == [1, 2, 3]


def test_a_torn_record_that_stays_does_not_cost_the_next_one(tmp_path, monkeypatch):
    """A write fails in its middle, what is torn cannot be cut off, and a later write fails again."""
    path = tmp_path / "000.journal"
    writer = JournalWriter(path)
    writer.append(1, {"loss": 1.0})
    plain, cut = files.raw_write, os.ftruncate

    def torn(where, data):
        plain(where, data[:10])
        raise OSError(errno.ENOSPC, "full")

    def stuck(*_):
        raise OSError(errno.EIO, "stuck")

    with monkeypatch.context() as broken:
        broken.setattr(files, "raw_write", torn)
        broken.setattr(os, "ftruncate", stuck)
        with pytest.raises(DiskFull):
            writer.append(2, {"loss": 2.0})
    writer.append(3, {"loss": 3.0})
    with monkeypatch.context() as broken:
        broken.setattr(files, "raw_write", torn)
        with pytest.raises(DiskFull):
            writer.append(4, {"loss": 4.0})
    assert os.ftruncate is cut
    writer.append(5, {"loss": 5.0})
    writer.close()
    assert read_journal(path).steps.tolist() == [1, 3, 5]


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


def child_of(writer):
    """Fork a process that uses the writer; whether it ends within ten seconds."""
    child = os.fork()
    if child == 0:
        writer.append(2, {"child": 1.0})
        writer.note("child")
        writer.close()
        os._exit(0)
    deadline = time.monotonic() + 10
    while os.waitpid(child, os.WNOHANG)[0] == 0:
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return False
        time.sleep(0.001)
    return True


def test_forked_processes_write_nothing_and_never_hang(tmp_path):
    path = tmp_path / "0.journal"
    with JournalWriter(path) as writer:
        done = threading.Event()

        def append_on():
            while not done.is_set():
                writer.append(1, {"x": 1.0})
                time.sleep(0)

        thread = threading.Thread(target=append_on)
        thread.start()
        try:
            for _ in range(25):
                assert child_of(writer), "a forked child hangs"
        finally:
            done.set()
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
