"""SentencePiece's byte-pair models, against what its own library gave."""

import struct

import pytest

from ontogeny import formats
from ontogeny.errors import BadSource
from ontogeny.formats.sentencepiece_model import read_sentencepiece

#: From sentencepiece 0.2.3, `encode(text)` of tok105.model, behind the beginning token.
GOLDEN = {
    "Once upon a time": [3, 34, 9, 22, 4, 3, 18, 20, 7, 9, 3, 5, 3, 6, 10, 16, 4],
    "  two  spaces ": [3, 6, 17, 7, 3, 12, 20, 5, 22, 4, 12],
    "a\n\nb": [3, 5, 0, 23],
    "é€漢字 x": [3, 78, 96, 0, 3, 37],
    "": [],
}


def test_texts_are_cut_as_by_the_library(shared_data):
    tokenizer = read_sentencepiece(shared_data / "babyllama-tok105" / "tok105.model")
    assert (tokenizer.vocabulary, tokenizer.bos) == (105, 1)
    for text, tokens in GOLDEN.items():
        assert tokenizer.encode([text])[0].tolist() == [1, *tokens], text
    assert tokenizer.decode(tokenizer.encode(["Once upon a time"])[0][1:]) == "Once upon a time"


def test_merges_follow_the_scores(tmp_path):
    """`ab` and `bc` overlap: the better score is merged first, and the rest follows."""
    pieces = [("a", -9), ("b", -9), ("c", -9), ("bc", -1), ("ab", -2), ("▁", -9)]
    (tmp_path / "a.model").write_bytes(_model(pieces))
    tokenizer = read_sentencepiece(tmp_path / "a.model")
    assert tokenizer.encode(["abc ab"])[0].tolist() == [5, 0, 3, 5, 4]
    assert tokenizer.bos is None


@pytest.mark.parametrize("raw", [b"", b"\x0a\xff", b"\x0f\x01\x02", b"\xff" * 30, b"GGUF\3\0\0\0"])
def test_what_is_none_is_refused(tmp_path, raw):
    (tmp_path / "a.model").write_bytes(raw)
    with pytest.raises(BadSource, match="SentencePiece"):
        read_sentencepiece(tmp_path / "a.model")


def test_a_unigram_model_is_refused_with_what_to_do(tmp_path):
    (tmp_path / "a.model").write_bytes(_model([("a", -1)], kind=1))
    with pytest.raises(BadSource, match=r"model type 1[\s\S]*tokenizer\.json"):
        read_sentencepiece(tmp_path / "a.model")


def test_it_is_found_beside_a_file_and_not_in_a_folder(shared_data):
    home = shared_data / "babyllama-tok105"
    assert formats.tokenizer_in(home) is None
    found = formats.tokenizer_in(home / "model5000.bin")
    assert found is not None
    assert found.vocabulary == 105


def _model(pieces: list[tuple[str, int]], kind: int = 2) -> bytes:
    raw = b""
    for text, score in pieces:
        piece = _field(1, text.encode()) + b"\x15" + struct.pack("<f", score)
        raw += _field(1, piece)
    return raw + _field(2, bytes([3 << 3, kind]))


def _field(number: int, value: bytes) -> bytes:
    return bytes([number << 3 | 2, len(value)]) + value
