import base64
import gzip
import json
import math

import numpy as np
import pandas as pd

from ontogeny.report import RunTables
from ontogeny.report.carried import MOST_STEPS, Carried, head_rows, short, transitions
from ontogeny.views.figure import Figure, Line, Panel


def unpacked(text: str):
    return json.loads(gzip.decompress(base64.b64decode(text)))


def heads(steps, value, **more) -> pd.DataFrame:
    rows = [
        {
            "part": "score",
            "step": step,
            "layer": layer,
            "head": head,
            "value": value(step, layer, head),
            "status": "ok",
        }
        | more
        for step in steps
        for layer in range(2)
        for head in range(3)
    ]
    return pd.DataFrame(rows)


def test_a_figure_comes_back_as_it_was_described():
    figure = Figure("one", (Panel("p", (Line("l", (0.0, 1.0), (0.5, math.nan)),)),))
    carried = Carried()
    written = carried.drawing(figure)
    assert 'data-figure="0"' in written
    assert "<svg" in written
    assert unpacked(carried.packed())["figures"] == [figure.plain()]


def test_numbers_are_as_long_as_a_drawing_needs_them():
    assert short({"a": [0.1234567891, 2.0, 1e300, "NaN", None, True, 3]}) == {
        "a": [0.123457, 2, 1e300, "NaN", None, True, 3]
    }


def test_the_same_content_is_packed_into_the_same_text():
    one, other = Carried(), Carried()
    for carried in (one, other):
        carried.run("run-1", RunTables({}, rows=heads([0, 1], lambda *at: sum(at))))
    assert one.packed() == other.packed()


def test_values_lie_place_by_place_and_what_is_lost_says_why():
    rows = heads([4, 0], lambda step, layer, head: 100 * step + 10 * layer + head)
    rows = rows.drop(rows[(rows["step"] == 4) & (rows["head"] == 2)].index)
    lost = (rows["step"] == 0) & (rows["layer"] == 1)
    rows.loc[lost, ["value", "status"]] = [np.nan, "rank-deficient"]
    (entry,) = head_rows(rows)
    assert entry["steps"] == [0, 4]
    assert entry["places"][1] == {"layer": 0, "head": 1}
    assert entry["values"] == [0, 400, 1, 401, 2, None, None, 410, None, 411, None, None]
    assert entry["status"] == [0, 0, 0, 0, 0, 3, 1, 0, 1, 0, 1, 3]
    assert entry["low"] is None


def test_infinity_is_named_and_nulls_stay_out():
    rows = heads([0], lambda step, layer, head: math.inf if head == 0 else 1.0)
    null = heads([0], lambda *_: 0.1, component="null:shuffled")
    (entry,) = head_rows(pd.concat([rows.assign(component=""), null]))
    assert entry["values"][0] == "Infinity"
    json.dumps(short(entry), allow_nan=False)


def test_a_long_run_is_thinned_and_a_huge_one_cut(monkeypatch):
    (entry,) = head_rows(heads(range(300), lambda *at: float(sum(at))))
    assert len(entry["steps"]) <= MOST_STEPS
    assert (entry["steps"][0], entry["steps"][-1]) == (0, 299)
    monkeypatch.setattr("ontogeny.report.carried.MOST_NUMBERS", 20)
    several = pd.concat([heads([0, 1], lambda *_: 1.0).assign(part=part) for part in ("a", "b")])
    assert [entry["part"] for entry in head_rows(several)] == ["a"]


def test_transitions_of_heads_only(made_up):
    found = transitions(made_up.transitions())
    assert found
    assert all(set(one["place"]) == {"layer", "head"} for one in found)
    assert all(one["step"] is None or math.isfinite(one["step"]) for one in found)
    assert transitions(pd.DataFrame()) == []
