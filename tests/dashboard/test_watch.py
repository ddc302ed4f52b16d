"""What changed since when, over files that are written, removed and added."""

import os
import time

import pyarrow as pa
import pytest

from dashboard_runs import attempt, losses, made
from ontogeny.dashboard.heartbeat import PATIENCE
from ontogeny.dashboard.shelf import Shelf
from ontogeny.dashboard.watch import Watch
from ontogeny.store.journal import JournalWriter
from ontogeny.store.rows import write_table
from ontogeny.store.run import Run


@pytest.fixture
def watch(tmp_path_factory, tmp_path, monkeypatch):
    monkeypatch.setattr("ontogeny.dashboard.shelf.LIST_EVERY", 0.0)
    monkeypatch.setattr("ontogeny.dashboard.tables.LOOK_EVERY", 0.0)
    monkeypatch.setattr("ontogeny.dashboard.entry.LOOK_EVERY", 0.0)
    made(tmp_path, "done", losses([1.0]))
    run = Run.create(tmp_path / "live", {"title": "live"})
    with JournalWriter(run.path / "journal" / "000.journal") as writer:
        writer.append(1, {"loss": 3.0})
        found = Watch(Shelf(tmp_path, tmp_path_factory.mktemp("cache")))
        found.writer, found.run = writer, run
        yield found


def looked(watch, cursor):
    watch.look()
    return watch.changes(watch.since(cursor))


def test_nothing_new_is_no_change(watch):
    cursor = watch.cursor
    assert looked(watch, cursor) == {"cursor": cursor, "runs": [], "gone": []}


def test_new_records_are_told_once(watch):
    cursor = watch.cursor
    watch.writer.append(2, {"loss": 2.0})
    found = looked(watch, cursor)
    (line,) = found["runs"]
    assert (line["name"], line["steps"], line["last"]) == ("live", 2, {"loss": 2.0})
    assert line["metrics_changed"]
    assert not line["rows_changed"]
    assert looked(watch, found["cursor"])["runs"] == []


def test_a_listener_that_was_away_gets_all_it_missed(watch):
    cursor = watch.cursor
    watch.writer.append(2, {"loss": 2.0})
    middle = looked(watch, cursor)["cursor"]
    write_table(watch.run.path / "rows" / "a.parquet", pa.table({"part": ["x"]}))
    write_table(watch.run.path / "transitions.parquet", pa.table({"verdict": ["transition"]}))
    (line,) = looked(watch, cursor)["runs"]
    flags = [line[f"{kind}_changed"] for kind in ("metrics", "rows", "transitions")]
    assert flags == [True, True, True]
    assert line["claims"] == 1
    (line,) = looked(watch, middle)["runs"]
    assert [line[f"{kind}_changed"] for kind in ("metrics", "rows", "transitions")] == [False, True, True]


def test_runs_that_come_and_go_are_told(watch, tmp_path):
    cursor = watch.cursor
    run = made(tmp_path, "new", losses([1.0]))
    (line,) = looked(watch, cursor)["runs"]
    assert line["name"] == "new"
    os.rename(run.path, tmp_path.parent / f"{tmp_path.name} moved")
    found = looked(watch, cursor)
    assert found["gone"] == [line["id"]]
    assert found["runs"] == []


def test_silence_is_told_when_it_becomes_death(watch):
    cursor = watch.cursor
    watch.shelf.summaries.of(next(one for one in watch.shelf.entries() if one.name == "live"))
    looked(watch, cursor)
    cursor = watch.cursor
    journal = watch.run.path / "journal" / "000.journal"
    long_ago = time.time() - 10 * PATIENCE
    os.utime(journal, (long_ago, long_ago))
    (line,) = looked(watch, cursor)["runs"]
    assert line["status"] == "killed"
    attempt(watch.run, 1, losses([1.0], first=3))
    (line,) = looked(watch, cursor)["runs"]
    assert (line["status"], line["steps"]) == ("finished", 3)


@pytest.mark.parametrize("cursor", ["", "0", "other-3", "-", "{boot}-999", "{boot}-x", "{boot}"])
def test_a_cursor_of_another_server_is_none(watch, cursor):
    assert watch.cursor
    assert watch.since(cursor.format(boot=watch.boot)) is None


def test_nobody_looks_while_nobody_listens(watch):
    watch.listen()
    thread = watch._thread
    assert thread is not None
    watch.leave()
    thread.join(10)
    assert not thread.is_alive()
    assert watch._thread is None
