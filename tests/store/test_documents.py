import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontogeny.errors import BadContract, Damaged, NotARun
from ontogeny.store.documents import json_bytes, parse_json, read_json, write_json

NAMES = st.one_of(st.just("nonfinite"), st.text(st.characters(codec=None), max_size=5))
DOCUMENTS = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.sampled_from(["NaN", "Infinity"])
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=20,
)


def same(a, b):
    if isinstance(a, dict):
        return isinstance(b, dict) and list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float):
        both_nan = isinstance(b, float) and a != a and b != b
        return both_nan or (type(b) is float and a == b and math.copysign(1, a) == math.copysign(1, b))
    return type(a) is type(b) and a == b


def refuse(name):
    raise AssertionError(f"{name} is not strict JSON")


@given(DOCUMENTS)
@settings(max_examples=150, deadline=None)
def test_documents_come_back_and_any_strict_parser_reads_them(document):
    data = json_bytes(document)
    json.loads(data, parse_constant=refuse)
    assert same(document, parse_json(data, "here"))
    assert json_bytes(parse_json(data, "here")) == data


def test_nonfinite_numbers_are_tagged():
    assert json.loads(json_bytes([math.nan, math.inf, -math.inf, -0.0])) == [
        {"nonfinite": "NaN"},
        {"nonfinite": "Infinity"},
        {"nonfinite": "-Infinity"},
        -0.0,
    ]


@pytest.mark.parametrize("document", [{1: "a"}, {"a": [object()]}, {"a": {2, 3}}, b"bytes"])
def test_what_json_cannot_hold_is_refused_by_its_place(document, tmp_path):
    with pytest.raises(BadContract, match="document"):
        write_json(tmp_path / "a.json", document)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", "{", "", '{"nonfinite": 3}', "[" * 100_000, "\xff"])
def test_what_is_not_strict_json_is_damaged(text, tmp_path):
    (tmp_path / "a.json").write_text(text, "latin-1")
    with pytest.raises(Damaged, match=r"a\.json"):
        read_json(tmp_path / "a.json")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(NotARun, match=r"a\.json"):
        read_json(tmp_path / "a.json")


def test_a_seal_finds_every_flipped_bit_and_every_cut(tmp_path, flips, cuts):
    path = tmp_path / "a.json"
    write_json(path, {"loss": math.nan, "text": "é\n", "list": list(range(400))}, seal=True)
    for _ in flips(path, 200):
        with pytest.raises(Damaged, match=r"a\.json"):
            read_json(path, seal=True)
    for _ in cuts(path):
        with pytest.raises(Damaged, match=r"a\.json"):
            read_json(path, seal=True)
    assert read_json(path, seal=True)["list"] == list(range(400))


def test_only_a_dictionary_without_a_seal_is_sealed(tmp_path):
    for document in ([1], {"seal": "x"}):
        with pytest.raises(BadContract, match="seal"):
            write_json(tmp_path / "a.json", document, seal=True)
