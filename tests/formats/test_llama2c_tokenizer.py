"""The tokenizer of llama2.c: as a pipeline it cuts text as the plain procedure does."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontogeny.errors import BadSource
from ontogeny.formats.llama2c_tokenizer import read_llama2c_tokenizer, read_tokens, tokenizer_beside


def plain_encode(tokens, text):
    """run.c's encode: characters or bytes, then the best-scoring adjacent pair until there is none."""
    ids = {raw: i for i, (_, raw) in reversed(list(enumerate(tokens)))}
    found = []
    for letter in f" {text}":
        raw = letter.encode()
        found += [ids[raw]] if raw in ids else [byte + 3 for byte in raw]
    while True:
        best = None
        for i in range(len(found) - 1):
            merged = ids.get(tokens[found[i]][1] + tokens[found[i + 1]][1])
            if merged is not None and (best is None or tokens[merged][0] > best[0]):
                best = (tokens[merged][0], i, merged)
        if best is None:
            return [1, *found]
        found[best[1] : best[1] + 2] = [best[2]]


@pytest.fixture(scope="module")
def file(shared_data):
    return shared_data / "stories260k" / "tok512.bin"


@pytest.fixture(scope="module")
def pair(file):
    return read_tokens(file), read_llama2c_tokenizer(file)


def test_the_sample_is_cut_alike(pair, shared_data):
    tokens, tokenizer = pair
    for line in (shared_data / "stories260k" / "tinystories_sample.txt").read_text().splitlines():
        if line:
            assert tokenizer.encode([line])[0].tolist() == plain_encode(tokens, line)


@settings(max_examples=200)
@given(st.text(st.sampled_from(list("abehlot. ,'\"\nTé→😀")), min_size=1, max_size=30))
def test_any_text_is_cut_alike_and_comes_back(pair, text):
    tokens, tokenizer = pair
    ids = tokenizer.encode([text])[0].tolist()
    assert ids == plain_encode(tokens, text)
    assert tokenizer.decode(ids[1:]) == text


def test_it_opens_every_text_with_its_beginning(pair):
    tokenizer = pair[1]
    assert (tokenizer.vocabulary, tokenizer.bos) == (512, 1)


def test_what_is_no_tokenizer_is_refused(tmp_path):
    (tmp_path / "tok.bin").write_bytes(b"\x07\0\0\0" + b"\xff" * 40)
    with pytest.raises(BadSource, match="no tokenizer"):
        read_tokens(tmp_path / "tok.bin")


def test_the_one_of_the_models_length_is_found(file, tmp_path):
    (tmp_path / "model.bin").write_bytes(b"")
    assert tokenizer_beside(tmp_path / "model.bin", 512) is None
    (tmp_path / "tok512.bin").write_bytes(file.read_bytes())
    (tmp_path / "tokens.bin").write_bytes(b"none")
    assert tokenizer_beside(tmp_path / "model.bin", 512) == tmp_path / "tok512.bin"
    assert tokenizer_beside(tmp_path / "model.bin", 32000) is None
    (tmp_path / "tok-copy.bin").write_bytes(file.read_bytes())
    assert tokenizer_beside(tmp_path / "model.bin", 512) is None, "two that fit are none"
