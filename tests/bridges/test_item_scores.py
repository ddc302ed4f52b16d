"""Item scores as others write them."""

import json

import numpy as np
import pandas as pd
import pytest

from ontogeny.bridges.item_scores import read_item_scores
from ontogeny.errors import BadSource, Damaged, NotARun


def samples(path, scores, **more):
    """As lm-evaluation-harness writes with --log_samples: one line a document, with what was asked."""
    lines = [
        {
            "doc_id": i,
            "doc": {"question": "?"},
            "target": "a",
            "resps": [["b"]],
            "doc_hash": f"h{i}",
            "acc": s,
            **more,
        }
        for i, s in enumerate(scores)
    ]
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(map(json.dumps, lines)) + "\n")


def test_samples_of_the_harness(tmp_path):
    samples(tmp_path / "m" / "samples_arc_easy_2024-05-01T10-11-12.345678.jsonl", [1.0, 0.0])
    samples(tmp_path / "m" / "samples_arc_easy_2024-05-02T10-11-12.345678.jsonl", [1.0, 1.0])
    samples(tmp_path / "m" / "samples_piqa_2024-05-01T10-11-12.345678.jsonl", [0.0])
    found = read_item_scores(tmp_path / "m")
    assert (found.name, found.metric, found.notes) == ("m", "acc", ())
    counts = found.table.groupby("item")["score"].agg(["sum", "size"])
    assert counts.loc["arc_easy/0"].tolist() == [2, 2]
    assert counts.loc["arc_easy/1"].tolist() == [1, 2]
    assert counts.loc["piqa/0"].tolist() == [0, 1]
    assert found.table["digest"].tolist()[:2] == ["h0", "h1"]


def test_several_scores_need_a_name(tmp_path):
    samples(tmp_path / "one.jsonl", [1.0, 0.0], acc_norm=0.5)
    with pytest.raises(BadSource, match="which score") as caught:
        read_item_scores(tmp_path / "one.jsonl")
    assert "acc, acc_norm" in str(caught.value)
    assert read_item_scores(tmp_path / "one.jsonl", "acc_norm").table["score"].tolist() == [0.5, 0.5]


def test_one_of_several_filters(tmp_path):
    rows = [
        {"doc_id": i, "filter": rule, "exact_match": float(rule == "flexible")}
        for i in range(3)
        for rule in ("strict", "flexible")
    ]
    (tmp_path / "samples_gsm8k.jsonl").write_text("\n".join(map(json.dumps, rows)))
    first = read_item_scores(tmp_path)
    assert first.table["score"].tolist() == [0, 0, 0]
    assert "filter strict; flexible left out" in first.notes[0]
    assert read_item_scores(tmp_path, "exact_match,flexible").table["score"].tolist() == [1, 1, 1]
    with pytest.raises(BadSource, match="no filter 'loose'"):
        read_item_scores(tmp_path, "exact_match,loose")


def test_csv_and_tables(tmp_path):
    table = pd.DataFrame({"item": ["a", "b", "a"], "correct": [True, False, False], "replicate": [0, 0, 1]})
    table.to_csv(tmp_path / "m.csv", index=False)
    for given in (table, tmp_path / "m.csv"):
        found = read_item_scores(given)
        assert found.metric == "correct"
        assert found.table["item"].tolist() == ["a", "b", "a"]
        assert found.table["score"].tolist() == [1, 0, 0]


def test_answers_without_a_score_are_counted():
    found = read_item_scores(pd.DataFrame({"id": [1, 2, 3], "score": [1.0, np.nan, 0.0]}))
    assert found.table["item"].tolist() == ["1", "3"]
    assert "1 of 3 answers have no score" in found.notes[0]


def test_what_holds_no_scores(tmp_path):
    with pytest.raises(NotARun, match="no item scores"):
        read_item_scores(tmp_path)
    with pytest.raises(NotARun, match="no such path"):
        read_item_scores(tmp_path / "absent")
    with pytest.raises(BadSource, match="holds no item scores"):
        read_item_scores(pd.DataFrame({"name": ["a"], "score": [1]}))
    with pytest.raises(BadSource, match="holds no item scores"):
        read_item_scores(pd.DataFrame({"item": ["a"], "score": [1]}), "acc")
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(BadSource, match="which score"):
        read_item_scores(tmp_path)
    (tmp_path / "empty.jsonl").write_text('{"doc_id": 1, "acc"')
    with pytest.raises(Damaged, match="line 1 is not JSON"):
        read_item_scores(tmp_path)
    (tmp_path / "empty.jsonl").write_text("[1]")
    with pytest.raises(Damaged, match="no record"):
        read_item_scores(tmp_path)
