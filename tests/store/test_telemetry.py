import math
import os
import struct

import numpy as np
import pytest

from ontogeny.store.compaction import compact_journal
from ontogeny.store.journal import read_journal


@pytest.mark.parametrize("compacted", [False, True])
def test_every_bit_of_nonfinite_numbers_is_kept(tmp_path, compacted, telemetry):
    patterns = [0x7FF0000000000001, 0x7FF8DEADBEEF0000, 0xFFF8000000000001, 0x7FF0000000000000]
    patterns += [0xFFF0000000000000, 1 << 63, 1, 0x800FFFFFFFFFFFFF]  # infinities, minus zero, denormals
    values = [struct.unpack("<d", struct.pack("<Q", pattern))[0] for pattern in patterns]
    path = telemetry.write(tmp_path / "0.journal", [(i, {"x": value}) for i, value in enumerate(values)])
    if compacted:
        compact_journal(path)
    rows, read = read_journal(path).column("x")
    assert rows.tolist() == list(range(len(values)))
    assert read.view(np.uint64).tolist() == patterns


def test_absent_is_not_nan(tmp_path, telemetry):
    path = telemetry.write(
        tmp_path / "0.journal", [(0, {"a": math.nan}), (1, {"b": 1}), (2, {"a": 2.0, "b": 3})]
    )
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


def test_a_metric_may_be_called_like_a_key(tmp_path, telemetry):
    read = read_journal(telemetry.write(tmp_path / "0.journal", [(7, {"step": 1.5, "metric:step": 2.5})]))
    assert read.frame().iloc[0].to_dict() | {"seconds": 0, "sequence": 0} == {
        "step": 7,
        "seconds": 0,
        "sequence": 0,
        "metric:step": 1.5,
        "metric:metric:step": 2.5,
    }


def test_narrow_values_take_four_bytes_unless_they_do_not_fit(tmp_path, telemetry):
    path = telemetry.write(tmp_path / "0.journal", [(0, {"x": 0.1}), (1, {"x": math.inf})], narrow=["x"])
    assert read_journal(path).column("x")[1].dtype == np.float32
    path = telemetry.write(
        tmp_path / "1.journal", [(0, {"x": 0.1}), (1, {"x": 1e300}), (2, {"x": 0.1})], narrow={"x"}
    )
    assert read_journal(path).column("x")[1].tolist() == [float(np.float32(0.1)), 1e300, 0.1]
    path = telemetry.write(
        tmp_path / "2.journal", [(0, {"x": np.float32(0.1), "y": np.int64(3), "z": np.bool_(1)})]
    )
    values = [read_journal(path).column(name)[1] for name in "xyz"]
    assert [value.dtype.name for value in values] == ["float32", "int64", "bool"]


def test_names_and_texts_that_no_encoding_holds_are_only_data(tmp_path, telemetry):
    hostile = ["\ud800", "\0", "a\nb", "\u202eright", "e\u0301", "\u00e9", "../..", "<script>", "x" * 300]
    path = telemetry.write(
        tmp_path / "0.journal", [(0, {name: name for name in hostile}), (1, {"\ud800": 0.5})]
    )
    for _ in range(2):
        frame = read_journal(path).frame()
        assert list(frame.columns[3:]) == hostile
        assert frame.iloc[0, 3:].tolist() == hostile
        assert frame["\ud800"].tolist() == ["\ud800", 0.5]
        assert frame["\0"].tolist() == ["\0", None]
        compact_journal(path)
    assert os.listdir(tmp_path) == ["0.parquet"]


def test_hashes_and_mixed_kinds_keep_their_values(tmp_path, telemetry):
    path = telemetry.write(
        tmp_path / "0.journal", [(i, {"h": value}) for i, value in enumerate([3, 1 << 63, 5])]
    )
    assert read_journal(path).column("h")[1].dtype == np.uint64
    assert read_journal(path).column("h")[1].tolist() == [3, 1 << 63, 5]
    mixed = [(1 << 53) + 1, 0.5, -1, True, "text", 1 << 63]
    path = telemetry.write(tmp_path / "1.journal", [(i, {"h": value}) for i, value in enumerate(mixed)])
    assert list(map(telemetry.bits, read_journal(path).column("h")[1])) == list(map(telemetry.bits, mixed))
