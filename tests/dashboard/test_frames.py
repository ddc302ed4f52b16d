"""A frame says what follows, holds it bit for bit, and its header is strict JSON."""

import json
import math

import numpy as np
import pytest

from ontogeny.dashboard.frames import Column, frame, plain, read_frame, strict


def test_columns_come_back_bit_for_bit_and_aligned():
    columns = [
        Column("left", "f8", np.array([0.1, math.nan, math.inf]), 0),
        Column("first", "f4", np.array([1.5], np.float64), 0),
        Column("count", "u4", np.array([2**32 - 1, 7]), 1),
        Column("status", "u1", np.array([[1, 2], [3, 0]]), 1),
        Column("none", "f4", np.zeros(0), 1),
    ]
    data = frame({"x": "step", "wide": 1e300}, columns)
    header, found = read_frame(data)
    assert header["layout"][3] == {"name": "status", "type": "u1", "length": 4, "series": 1}
    assert [one.tobytes() for one in found] == [
        np.asarray(one.values).astype({"f8": "<f8", "f4": "<f4", "u4": "<u4", "u1": "u1"}[one.type]).tobytes()
        for one in columns
    ]
    assert (8 + int.from_bytes(data[4:8], "little")) % 8 == 0
    assert len(data) % 8 == 0


def test_equal_columns_are_sent_once():
    edges, values = np.arange(500.0), np.random.default_rng(0).random((3, 500))
    runs = [
        column
        for index, row in enumerate(values)
        for column in (Column("left", "f8", edges, index), Column("low", "f4", row, index))
    ]
    data = frame({}, [*runs, Column("empty", "f4", [], 3), Column("none", "f4", [], 3)])
    header, found = read_frame(data)
    assert [one.get("same") for one in header["layout"]] == [None, None, 0, None, 0, None, None, 6]
    assert all(found[place].tobytes() == edges.tobytes() for place in (0, 2, 4))
    assert [found[place].tolist() for place in (1, 3, 5)] == values.astype(np.float32).tolist()
    assert len(data) < 8 * 500 + 3 * 4 * 500 + 900
    # Of equal bytes but another type: not the same column.
    zeros = read_frame(frame({}, [Column("f", "f4", [0.0, 0.0]), Column("u", "u4", [0, 0])]))[0]["layout"]
    assert "same" not in zeros[1]


def test_what_is_not_finite_has_a_name():
    document = {"a": math.nan, "b": [math.inf, -math.inf], "c": np.float32(math.nan), "d": np.int64(3)}
    text = strict(document)
    assert json.loads(text, parse_constant=pytest.fail) == {
        "a": "NaN",
        "b": ["Infinity", "-Infinity"],
        "c": "NaN",
        "d": 3,
    }


@pytest.mark.parametrize("text", ["\ud800", "‮<b>", "\0", "日本", '"\\'])
def test_any_text_is_carried(text):
    assert json.loads(strict({text: text})) == {text: text}


def test_numbers_beyond_float32_become_infinite_and_nothing_warns():
    assert read_frame(frame({}, [Column("v", "f4", [1e300, -1e300])]))[1][0].tolist() == [math.inf, -math.inf]
    assert plain({1: (1, None, True)}) == {"1": [1, None, True]}
    with pytest.raises(ValueError, match="no frame"):
        read_frame(b"something else")
