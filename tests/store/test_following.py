"""A journal followed as it grows is the journal that is read at the end."""

import math
import os
import shutil

import numpy as np
import pytest

from ontogeny.store.compaction import compact_journal, last_values
from ontogeny.store.following import FollowedJournal, Growing
from ontogeny.store.journal import JournalWriter, read_journal


def same(followed, path):
    """Steps, times and every metric as `read_journal` has them, bit for bit."""
    read = read_journal(path)
    assert followed.steps.tolist() == read.steps.tolist()
    assert followed.seconds.tobytes() == read.seconds.tobytes()
    assert followed.metrics == read.names
    for name in read.names:
        rows, values = read.column(name)
        numeric = np.array([not isinstance(value, str) for value in values], bool)
        found = followed.values(name)
        assert found[0].tolist() == rows[numeric].tolist()
        assert found[1].tobytes() == values[numeric].astype("f8").tobytes()
    return read


def test_each_look_takes_in_what_was_added(tmp_path, telemetry):
    path, followed, columns = tmp_path / "000.journal", None, {}
    with JournalWriter(path) as writer:
        for step, values in telemetry.varied(300):
            writer.append(step, values, narrow={"loss"} if step % 3 == 0 else ())
            if step % 7 == 0:
                followed = followed or FollowedJournal(path)
                assert followed.look()
                since = columns.get("loss", 0)
                rows, _ = followed.values("loss", since)
                assert (rows >= since).all()
                columns["loss"] = int(rows[-1]) + 1 if len(rows) else since
                assert len(followed.steps) == step + 1
        writer.note("end", outcome="finished")
    assert followed is not None
    followed.look()
    read = same(followed, path)
    assert [note.kind for note in followed.notes] == [note.kind for note in read.notes]
    assert followed.counts()["odd"] == len(read.column("odd")[0])


def test_a_record_that_is_being_written_is_waited_for(tmp_path, telemetry):
    whole = telemetry.write(tmp_path / "whole.journal", [(step, {"loss": 0.5 * step}) for step in range(20)])
    data, path = whole.read_bytes(), tmp_path / "000.journal"
    path.write_bytes(b"")
    followed = FollowedJournal(path)
    for size in range(0, len(data) + 1, 7):
        path.write_bytes(data[:size]) if not size else os.truncate(path, 0)
        with path.open("r+b") as file:
            file.write(data[:size])
        followed.look()
        assert not followed.damage
    path.write_bytes(data)
    followed.look()
    same(followed, path)


def test_what_is_damaged_is_left_out_and_what_follows_is_read(tmp_path, telemetry, flips):
    path = telemetry.write(tmp_path / "000.journal", [(step, {"loss": float(step)}) for step in range(200)])
    for _ in flips(path, 60):
        followed = FollowedJournal(path)
        followed.look()
        read = read_journal(path)
        assert followed.steps.tolist() == read.steps.tolist()
        assert followed.values("loss")[1].tolist() == read.column("loss")[1].tolist()


def test_a_file_that_was_replaced_or_cut_is_read_anew(tmp_path, telemetry):
    path = telemetry.write(tmp_path / "000.journal", [(step, {"loss": 1.0}) for step in range(50)])
    followed = FollowedJournal(path)
    assert followed.look()
    os.truncate(path, path.stat().st_size // 2)
    assert not followed.look()
    assert len(followed.steps) == len(read_journal(path))
    other = telemetry.write(tmp_path / "other.journal", [(step, {"m": 2.0}) for step in range(90)])
    shutil.move(other, path)
    assert not followed.look()
    assert followed.metrics == ("m",)
    same(followed, path)
    path.unlink()
    with pytest.raises(FileNotFoundError):
        followed.look()


def test_the_last_values_are_found_without_reading_the_others(tmp_path):
    path = tmp_path / "000.journal"
    with JournalWriter(path) as writer:
        for step in range(100):
            writer.append(step, {"loss": float(step), "text": "t"})
            if step % 10 == 0:
                writer.append(step, {"heldout": -float(step), "step2": step})
        writer.append(100, {"loss": math.nan})
    followed = FollowedJournal(path)
    followed.look()
    last = followed.last()
    assert math.isnan(last.pop("loss"))
    assert last == {"heldout": -90.0, "step2": 90.0}
    stored = last_values(compact_journal(path), ("loss", "heldout", "text", "nothing"))
    assert math.isnan(stored.pop("loss"))
    assert stored == {"heldout": -90.0}


def test_a_growing_column_keeps_what_it_held():
    column, seen = Growing(np.int64), []
    for count in (0, 1, 5, 100, 3):
        column.extend(np.arange(count))
        seen.append((column.held, column.held.copy()))
    assert len(column) == 109
    assert all((view == copy).all() for view, copy in seen)
