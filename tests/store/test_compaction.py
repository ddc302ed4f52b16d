import errno
import math
import os

import numpy as np
import pyarrow.parquet as pq
import pytest

from ontogeny.errors import Damaged, OntogenyError
from ontogeny.store import compaction
from ontogeny.store.compaction import compact_journal
from ontogeny.store.journal import JournalWriter, read_journal, verify_journal


def some_journal(path, count=300):
    rng = np.random.default_rng(0)
    with JournalWriter(path) as writer:
        writer.note("begin", lr=math.inf)
        for step in range(count):
            values = {
                "§xxh3_128:": float(rng.standard_normal()),
                "hash": int(rng.integers(1 << 62)),
                "\0": "é",
            }
            writer.append(step, {"odd": math.nan} if step % 10 == 3 else values)
    return path


def same(a, b):
    same_keys = all(getattr(a, key).tobytes() == getattr(b, key).tobytes() for key in ("steps", "sequences"))
    cells = [(a.column(name), b.column(name)) for name in a.names]
    return (
        same_keys
        and (a.names, a.notes, a.started, a.waiting) == (b.names, b.notes, b.started, b.waiting)
        and all(
            x[0].tolist() == y[0].tolist() and repr(x[1].tolist()) == repr(y[1].tolist()) for x, y in cells
        )
    )


def test_a_compacted_journal_is_an_ordinary_parquet_file_with_checksums(tmp_path):
    before = read_journal(some_journal(tmp_path / "000.journal"))
    path = compact_journal(tmp_path / "000.journal")
    assert os.listdir(tmp_path) == ["000.parquet"]
    table = pq.read_table(path, page_checksum_verification=True)
    assert table["step"].to_pylist() == list(range(300))
    assert table["m3"].null_count == 270
    assert same(read_journal(path), before)
    assert same(read_journal(tmp_path / "000.journal"), before)
    assert compact_journal(path) == path


def test_random_floats_take_at_most_ten_bytes(tmp_path):
    rows = np.random.default_rng(0).standard_normal((4000, 20)).tolist()
    with JournalWriter(tmp_path / "000.journal") as writer:
        for step, row in enumerate(rows):
            writer.append(step, {f"m{i}": value for i, value in enumerate(row)})
    assert compact_journal(tmp_path / "000.journal").stat().st_size / (4000 * 20) <= 10


def test_row_groups_follow_the_stretches_of_the_journal(tmp_path, monkeypatch):
    monkeypatch.setattr(compaction, "_GROUP", 3000)
    before = read_journal(some_journal(tmp_path / "000.journal"))
    path = compact_journal(tmp_path / "000.journal")
    assert pq.read_metadata(path).num_row_groups > 5
    assert same(read_journal(path), before)


def test_an_empty_journal_compacts(tmp_path):
    JournalWriter(tmp_path / "000.journal").close()
    path = compact_journal(tmp_path / "000.journal")
    assert (len(read_journal(path)), read_journal(path).names) == (0, ())


@pytest.mark.parametrize("stays", [False, True])
def test_a_failure_at_any_step_leaves_a_whole_form(tmp_path, disk, code, stays):
    path = some_journal(tmp_path / "000.journal", 40)
    before = read_journal(path)
    for at in range(1, 100):
        disk.arm(at, code, stays)
        message = errno.errorcode[code]
        try:
            compact_journal(path)
        except OntogenyError as error:
            message = str(error)
        assert errno.errorcode[code] in message
        assert same(read_journal(path), before)
        if not disk.struck:
            break
        disk.disarm()
        assert not list(tmp_path.glob(".*"))
    assert at > 5
    assert os.listdir(tmp_path) == ["000.parquet"]


def test_what_a_crash_leaves_beside_the_journal_is_replaced(tmp_path):
    path = some_journal(tmp_path / "000.journal")
    before = read_journal(path)
    (tmp_path / "000.parquet").write_bytes(b"half a file")
    assert same(read_journal(tmp_path / "000.parquet"), before)  # the journal wins
    compact_journal(path)
    assert same(read_journal(path), before)


def test_a_torn_tail_is_no_obstacle_and_damage_is(tmp_path):
    path = some_journal(tmp_path / "000.journal")
    os.truncate(path, path.stat().st_size - 3)
    assert read_journal(path).waiting > 0
    before = read_journal(path)
    assert same(read_journal(compact_journal(path)), before)
    path = some_journal(tmp_path / "001.journal")
    data = bytearray(path.read_bytes())
    data[5000] ^= 1
    path.write_bytes(data)
    assert compact_journal(path) == path
    assert path.read_bytes() == data
    assert not (tmp_path / "001.parquet").exists()


def test_a_file_that_does_not_read_back_equal_never_replaces_the_journal(tmp_path, monkeypatch):
    path = some_journal(tmp_path / "000.journal")
    before, table = path.read_bytes(), compaction._table

    def wrong(piece, columns, schema):
        rows, values = piece.cells["hash", "q"][0]
        piece.cells["hash", "q"] = [(rows, values + 1)]
        return table(piece, columns, schema)

    monkeypatch.setattr(compaction, "_table", wrong)
    with pytest.raises(Damaged, match="does not read back equal"):
        compact_journal(path)
    assert os.listdir(tmp_path) == ["000.journal"]
    assert path.read_bytes() == before


@pytest.mark.parametrize("count", [100, pytest.param(1000, marks=pytest.mark.slow)])
def test_every_flipped_bit_is_found_and_other_columns_stay_readable(tmp_path, flips, count, monkeypatch):
    monkeypatch.setattr(compaction, "_GROUP", 6000)
    before = read_journal(some_journal(tmp_path / "000.journal"))
    path = compact_journal(tmp_path / "000.journal")
    whole = {
        name: dict(zip(*map(np.ndarray.tolist, before.column(name)), strict=True)) for name in before.names
    }
    readable = 0
    for place in flips(path, count):
        with pytest.raises(Damaged, match=r"000\.parquet"):
            read_journal(path)
        damage = verify_journal(path)
        assert damage, place
        assert all(item.file == "000.parquet" for item in damage)
        left = read_journal(path, salvage=True)
        for name in left.names if len(left) == len(before) else ():
            rows, values = left.column(name)
            assert all(
                repr(whole[name][row]) == repr(value)
                for row, value in zip(rows, values.tolist(), strict=True)
            )
        readable += sum(len(left.column(name)[0]) for name in left.names) / sum(map(len, whole.values()))
    assert readable / count > 0.6


def test_a_file_cut_anywhere_is_refused_by_name(tmp_path, cuts):
    some_journal(tmp_path / "000.journal")
    path = compact_journal(tmp_path / "000.journal")
    for length in cuts(path):
        with pytest.raises(Damaged, match=r"000\.parquet"):
            read_journal(path)
        if length % 512 == 0:
            assert verify_journal(path)
