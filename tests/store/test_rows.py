"""Rows: their schema, their checksums, and each of them once."""

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import torch

from ontogeny.errors import Damaged
from ontogeny.store.arrays import array_hash, write_arrays
from ontogeny.store.rows import (
    MEASURED,
    compact_rows,
    measured_keys,
    read_rows,
    row_schema,
    verify_rows,
    write_rows,
)
from ontogeny.vocabulary import AXES

KEY = {"run": "ab12cd34", "attempt": 0, "part": "induction", "component": "", "version": 1, "parameters": "p"}


def row(step: int = 0, head: int | None = 0, value: float | None = 0.5, **more) -> dict:
    key = {**KEY, "stimulus": "s", "stimulus_name": "repeated_tokens", "step": step, "checkpoint": f"c{step}"}
    status = "ok" if value is not None else "nonfinite"
    return {**key, "layer": 1, "head": head, "value": value, "status": status, **more}


def test_what_is_written_is_read(tmp_path):
    write_rows(tmp_path, "b", [row(8, 1), row(8, 0, None, reason="why")], {"threads": "1"})
    write_rows(tmp_path, "a", [row(2, n=7, low=0.1)], {})
    frame = read_rows(tmp_path)
    assert frame["step"].tolist() == [2, 8, 8]
    assert frame.loc[0, ["n", "low", "layer"]].tolist() == [7, 0.1, 1]
    assert np.isnan(frame.loc[2, "value"])
    assert frame.loc[2, "reason"] == "why"
    assert frame.loc[0, "reason"] == frame.loc[0, "reference"] == ""
    assert frame["loop"].isna().all()
    assert set(frame.columns) == set(row_schema().names)
    assert read_rows(tmp_path, ["step", "value"]).columns.tolist() == ["step", "value"]


def test_nothing_measured_is_an_empty_table_of_the_same_columns(tmp_path):
    empty = read_rows(tmp_path)
    write_rows(tmp_path, "a", [row()], {})
    assert empty.empty
    pd.testing.assert_series_equal(empty.dtypes, read_rows(tmp_path).dtypes)
    assert measured_keys(tmp_path / "nowhere") == set()


def test_bits_of_values_are_kept(tmp_path):
    values = [0.1, 5e-324, -0.0, 1.7976931348623157e308, np.pi]
    write_rows(tmp_path, "a", [row(step, value=value) for step, value in enumerate(values)], {})
    assert read_rows(tmp_path)["value"].to_numpy().tobytes() == np.array(values).tobytes()


def test_the_later_of_two_rows_with_one_key_is_read(tmp_path):
    write_rows(tmp_path, "1", [row(value=0.1), row(head=1, value=0.2)], {})
    write_rows(tmp_path, "2", [row(value=0.3)], {})
    assert read_rows(tmp_path)["value"].tolist() == [0.2, 0.3]
    compact_rows(tmp_path)
    assert read_rows(tmp_path)["value"].tolist() == [0.2, 0.3]
    write_rows(tmp_path, "000000-later", [row(value=0.4)], {})
    assert read_rows(tmp_path)["value"].tolist() == [0.2, 0.4], "what was compacted is older"


def test_another_stimulus_is_another_row_and_the_later_comes_last(tmp_path):
    write_rows(tmp_path, "1", [row(value=0.1, stimulus="old")], {})
    write_rows(tmp_path, "2", [row(value=0.2, stimulus="older")], {})
    compact_rows(tmp_path)
    write_rows(tmp_path, "0", [row(value=0.3, stimulus="new")], {})
    assert read_rows(tmp_path)["value"].tolist() == [0.1, 0.2, 0.3]


def test_compaction_keeps_every_row_once_in_one_file(tmp_path):
    for step in range(5):
        write_rows(tmp_path, f"{step:06d}-1", [row(step, head) for head in range(3)], {"threads": "1"})
    write_rows(tmp_path, "000002-2", [row(2, head) for head in range(3)], {"threads": "1"})
    before = read_rows(tmp_path)
    for _ in range(2):
        compact_rows(tmp_path)
        (path,) = (tmp_path / "rows").iterdir()
        assert pq.read_metadata(path).num_rows == 15
        pd.testing.assert_frame_equal(read_rows(tmp_path), before)
    assert pq.read_schema(path).metadata[b"threads"] == b"1"
    write_rows(tmp_path, "000009-1", [row(9)], {})
    compact_rows(tmp_path)
    assert [p.name for p in (tmp_path / "rows").iterdir()] == ["all-0001.parquet"]
    assert len(read_rows(tmp_path)) == 16


def test_conditions_that_differed_are_all_in_the_one_file(tmp_path):
    for number, kernel in enumerate(("sdpa", "eager", "sdpa")):
        facts = {"kernel": kernel, "dtype": "float32", "command": f"number {number}"}
        write_rows(tmp_path, f"{number:06d}-1", [row(number)], facts)
        compact_rows(tmp_path)
    (path,) = (tmp_path / "rows").iterdir()
    found = pq.read_schema(path).metadata
    assert found[b"kernel"] == b"sdpa | eager"
    assert (found[b"dtype"], found[b"command"]) == (b"float32", b"number 2")


def test_a_compaction_that_was_killed_left_everything(tmp_path):
    for step in range(3):
        write_rows(tmp_path, f"{step:06d}", [row(step)], {})
    whole = [path.read_bytes() for path in sorted((tmp_path / "rows").iterdir())]
    compact_rows(tmp_path)
    for step, raw in enumerate(whole[1:], start=1):
        (tmp_path / "rows" / f"{step:06d}.parquet").write_bytes(raw)
    (tmp_path / "rows" / ".000003.parquet.half.temporary").write_bytes(b"PAR1 half")
    assert read_rows(tmp_path)["step"].tolist() == [0, 1, 2]
    compact_rows(tmp_path)
    assert read_rows(tmp_path)["step"].tolist() == [0, 1, 2]


def test_an_axis_nobody_here_knows_keeps_rows_apart(tmp_path, monkeypatch):
    monkeypatch.setitem(AXES, "colour", str)
    write_rows(tmp_path, "a", [row(colour="red"), row(colour="blue")], {})
    write_rows(tmp_path, "b", [row(5)], {})
    monkeypatch.delitem(AXES, "colour")
    assert read_rows(tmp_path)["colour"].tolist()[:2] == ["red", "blue"]
    compact_rows(tmp_path)
    assert len(read_rows(tmp_path)) == 3


def test_what_was_measured_is_known_by_its_key_alone(tmp_path):
    write_rows(tmp_path, "a", [row(3, 0), row(3, 1), row(3, 0, reference="r")], {})
    assert measured_keys(tmp_path) == {
        ("ab12cd34", "3", "c3", "induction", "p", "s", ""),
        ("ab12cd34", "3", "c3", "induction", "p", "s", "r"),
    }
    assert all(len(key) == len(MEASURED) for key in measured_keys(tmp_path))


def test_a_measurement_whose_array_is_gone_is_not_complete(tmp_path):
    draws = torch.rand(3)
    write_rows(tmp_path, "a", [row(1), row(1, component="null:x", array=array_hash(draws)), row(2)], {})
    assert {key[1] for key in measured_keys(tmp_path)} == {"2"}
    write_arrays(tmp_path, {array_hash(draws): draws})
    assert {key[1] for key in measured_keys(tmp_path)} == {"1", "2"}


def test_damage_is_found_and_named_wherever_it_is(tmp_path, flips):
    write_rows(tmp_path, "good", [row(step) for step in range(50)], {})
    bad = write_rows(
        tmp_path, "bad", [row(step, value=step / 7) for step in range(100, 400)], {"threads": "1"}
    )
    for _ in flips(bad, 150):
        with pytest.raises(Damaged, match=r"bad\.parquet"):
            read_rows(tmp_path)
        (damage,) = verify_rows(tmp_path)
        assert damage.file == "rows/bad.parquet"
    assert not verify_rows(tmp_path)


def test_a_file_cut_short_is_named(tmp_path):
    path = write_rows(tmp_path, "cut", [row()], {})
    raw = path.read_bytes()
    for length in (0, 3, len(raw) // 2, len(raw) - 1):
        path.write_bytes(raw[:length])
        with pytest.raises(Damaged, match="cut"):
            read_rows(tmp_path)
