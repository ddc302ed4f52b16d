"""Texts are read as they are, parted by a fixed rule, and known by the hash of what they say."""

import json

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontogeny.errors import BadSource
from ontogeny.sources.corpus import Corpus, read_corpus

TEXTS = st.lists(st.text(max_size=60), min_size=1, max_size=80).filter(any)


@given(TEXTS)
def test_a_split_loses_nothing_and_repeats_nothing(documents):
    split = Corpus("any", tuple(documents)).split
    together = sorted("".join(documents))
    assert sorted("".join((*split.train, *split.heldout))) == together


@given(TEXTS)
def test_by_document_the_held_out_share_is_at_most_five_percent(documents):
    split = Corpus("any", tuple(documents)).split
    if "documents" in split.rule:
        held = sum(map(len, split.heldout))
        assert 0.025 * sum(map(len, documents)) <= held <= 0.05 * sum(map(len, documents))


def test_many_equal_documents_give_every_twentieth():
    documents = tuple(f"{number:04d}" for number in range(100))
    assert Corpus("any", documents).split.heldout == ("0019", "0039", "0059", "0079", "0099")


def test_one_document_gives_its_tail_from_a_line_on():
    text = "".join(f"line {number:03d}\n" for number in range(400))
    split = Corpus("any", (text,)).split
    assert "".join((*split.train, *split.heldout)) == text
    assert split.heldout[0].startswith("line 380\n")
    assert split.rule == "the last 180 of 3600 characters held out"


def test_the_hash_knows_where_documents_end():
    assert Corpus("a", ("one", "two")).hash == Corpus("b", ("one", "two")).hash
    assert Corpus("a", ("one", "two")).hash != Corpus("a", ("onetwo",)).hash
    assert Corpus("a", ("one", "two")).hash != Corpus("a", ("two", "one")).hash


def test_a_folder_is_read_in_the_order_of_its_names_without_hidden_files(tmp_path):
    (tmp_path / "b.md").write_text("second")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "z.py").write_bytes(b"first\r\n")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "x.txt").write_text("hidden")
    (tmp_path / "c.bin").write_bytes(b"\xff\xfe")
    (tmp_path / "empty.txt").write_text("")
    assert read_corpus(str(tmp_path)).documents == ("first\r\n", "second")


def test_jsonl_and_parquet_give_the_same_documents(tmp_path):
    texts = ["one", "", "three\u2028four"]
    lines = tmp_path / "texts.jsonl"
    lines.write_text("\n".join(json.dumps({"body": text}, ensure_ascii=False) for text in texts) + "\n\n")
    table = tmp_path / "texts.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"body": [*texts, None], "n": [1, 2, 3, 4]}), table)
    read = [read_corpus(str(path), field="body") for path in (lines, table)]
    assert read[0].documents == read[1].documents == ("one", "three\u2028four")
    assert read[0].hash == read[1].hash


def test_what_cannot_be_read_is_named(tmp_path):
    (tmp_path / "bytes.txt").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "broken.jsonl").write_text('{"text": "fine"}\n{"text": 3}\n')
    (tmp_path / "cut.jsonl").write_text('{"text": "fi')
    (tmp_path / "no.parquet").write_text("PAR2")
    (tmp_path / "empty.txt").write_text("")
    pyarrow.parquet.write_table(pyarrow.table({"n": [1]}), tmp_path / "numbers.parquet")
    (tmp_path / "folder").mkdir()
    for name, said in {
        "bytes.txt": "not UTF-8",
        "broken.jsonl": "line 2 has no text under 'text'",
        "cut.jsonl": "line 1 is not JSON",
        "no.parquet": "not a Parquet file",
        "numbers.parquet": "no text column 'text'",
        "empty.txt": "holds no text",
        "folder": "holds no text files",
        "nothing": "no such corpus",
    }.items():
        with pytest.raises(BadSource, match=said):
            read_corpus(str(tmp_path / name))
