import math
import os

import pytest

from ontogeny.errors import Damaged, UnknownName
from ontogeny.store import compaction, decoding, journal
from ontogeny.store.compaction import compact_journal
from ontogeny.store.journal import JournalWriter, read_journal


def test_definitions_that_are_lost_where_they_stand_first_are_found_later(tmp_path, monkeypatch, telemetry):
    path = tmp_path / "0.journal"
    monkeypatch.setattr(journal, "REPEAT_EVERY", 1000)
    monkeypatch.setattr(decoding, "STRETCH", 100)
    appended = [(step, {"x": float(step), "s": "text"}) for step in range(300)]
    ends = telemetry.frame_ends(path, appended)
    data = bytearray(path.read_bytes()[: ends[-1]])  # as if killed, without the repetition at the end
    data[: ends[0]] = bytes(ends[0])
    path.write_bytes(data)
    read = read_journal(path)
    assert telemetry.records(read) == telemetry.expected(appended[1:])
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


def test_ever_new_names_and_texts_stay_readable(tmp_path, monkeypatch, telemetry):
    monkeypatch.setattr(journal, "REMEMBERED", 10)
    monkeypatch.setattr(journal, "REPEAT_EVERY", 500)
    appended = [(step, {f"x{step % 37}": 1.0, "s": f"text {step % 41}"}) for step in range(200)]
    path = telemetry.write(tmp_path / "0.journal", appended)
    assert telemetry.records(read_journal(path)) == telemetry.expected(appended)


def test_memory_follows_the_columns_asked_for(tmp_path, telemetry):
    path = telemetry.write(
        tmp_path / "0.journal", [(i, {f"m{j}": 1.0 for j in range(20)}) for i in range(5000)]
    )
    one, every = read_journal(path, ["m3"]), read_journal(path)
    size = lambda read: sum(values.nbytes for _, values in read.cells.values())
    assert (size(one), size(every)) == (5000 * 8, 5000 * 8 * 20)


def test_only_the_names_asked_for_are_read(tmp_path, telemetry):
    path = telemetry.write(tmp_path / "0.journal", [(i, {"a": i, "b": 2.0}) for i in range(10)])
    for _ in range(2):
        read = read_journal(path, ["b"])
        assert read.names == ("a", "b")
        assert read.column("b")[1].tolist() == [2.0] * 10
        assert list(read.frame()) == ["step", "seconds", "sequence", "b"]
        with pytest.raises(UnknownName, match="'a'"):
            read.column("a")
        compact_journal(path)


@pytest.mark.parametrize("compacted", [False, True])
def test_another_format_is_refused(tmp_path, monkeypatch, compacted, telemetry):
    for module in (journal, compaction):
        monkeypatch.setattr(module, "FORMAT", 2 if (module is compaction) == compacted else 1)
    path = telemetry.write(tmp_path / "0.journal", [(0, {"a": 1})])
    with pytest.raises(Damaged, match="format"):  # noqa: PT012  # the first of the two that meets it
        compact_journal(path)
        read_journal(path)
