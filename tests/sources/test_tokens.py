"""A corpus and a tokenizer give one stream of one hash, encoded once, mapped ever after."""

import multiprocessing

import numpy as np
import pytest

from ontogeny.errors import BadSource, Damaged, NotARun
from ontogeny.sources import byte_tokenizer, open_tokens, resolve, trained_bpe

LINES = "".join(f"line {number} of a small text\n" for number in range(400))


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "small.txt"
    path.write_text(LINES)
    return path


def content(folder):
    source = open_tokens(folder)
    return source.hash, int(source.train.astype(np.int64).sum()), isinstance(source.train, np.memmap)


def test_streams_are_the_split_texts_and_nothing_else(text, tmp_path):
    source = resolve(corpus=str(text), tokenizer="bytes", cache=tmp_path / "cache")
    assert source.text(source.train) + source.text(source.heldout) == LINES
    assert source.train.dtype == np.uint16
    assert source.vocabulary == 256
    assert source.counts.tolist() == np.bincount(source.train, minlength=256).tolist()
    assert source.counts.sum() == len(source.train)
    assert 0.03 < len(source.heldout) / len(LINES) < 0.06
    assert source.bos is None


def test_bpe_is_trained_on_the_training_part_only(text, tmp_path):
    text.write_text(LINES[:9000] + "qzqzqz xkxkxk " * 30)
    source = resolve(corpus=str(text), tokenizer="bpe", size=300, cache=tmp_path / "cache")
    assert source.tokenizer is not None
    assert source.tokenizer.hash == trained_bpe([source.text(source.train)], 300).hash
    assert "qz" in source.text(source.heldout)
    assert not any("qz" in piece for piece in source.tokenizer.pipeline.get_vocab())


def test_what_is_cached_is_not_encoded_again(text, tmp_path, monkeypatch):
    first = resolve(corpus=str(text), tokenizer="bpe", size=300, cache=tmp_path / "cache")
    monkeypatch.setattr("ontogeny.sources.tokens.trained_bpe", lambda *_: pytest.fail("trained again"))
    again = resolve(corpus=str(text), tokenizer="bpe", size=300, cache=tmp_path / "cache")
    assert isinstance(again.train, np.memmap)
    assert again.hash == first.hash
    assert np.array_equal(again.train, first.train)


def test_text_size_and_kind_of_tokenizer_change_the_hash(text, tmp_path):
    def hash_of(**chosen):
        return resolve(corpus=str(text), cache=tmp_path / "cache", **chosen).hash

    hashes = {hash_of(tokenizer="bytes"), hash_of(size=260), hash_of(size=270)}
    text.write_text(LINES.replace("small", "short"))
    assert len({*hashes, hash_of(size=260)}) == 4


def test_a_spawned_process_maps_the_same_stream(text, tmp_path):
    source = resolve(corpus=str(text), tokenizer="bytes", cache=tmp_path / "cache")
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.apply(content, (source.folder,))
    assert found == (source.hash, int(source.train.astype(np.int64).sum()), True)


@pytest.mark.parametrize("harm", ["flip", "cut", "remove"])
def test_a_damaged_cache_is_seen_and_made_again(text, tmp_path, harm):
    source = resolve(corpus=str(text), tokenizer="bytes", cache=tmp_path / "cache")
    before, stream = source.train.tolist(), source.folder / "train.bin"
    raw = stream.read_bytes()
    if harm == "remove":
        stream.unlink()
    else:
        stream.write_bytes(raw[:-2] if harm == "cut" else raw[:8] + bytes([raw[8] ^ 1]) + raw[9:])
    with pytest.raises(Damaged):
        open_tokens(source.folder)
    assert resolve(corpus=str(text), tokenizer="bytes", cache=tmp_path / "cache").train.tolist() == before


def test_an_unfinished_cache_is_none(tmp_path):
    with pytest.raises(NotARun):
        open_tokens(tmp_path)


def test_a_transformers_folder_serves_as_tokenizer(text, tmp_path):
    byte_tokenizer().save(tmp_path)
    given = resolve(corpus=str(text), tokenizer=str(tmp_path), cache=tmp_path / "cache")
    assert given.hash == resolve(corpus=str(text), tokenizer="bytes", cache=tmp_path / "cache").hash


def test_token_files_need_no_tokenizer_and_are_checked(tmp_path):
    train, heldout = np.array([0, 1, 2, 1, 0] * 20, np.uint16), np.array([2, 1] * 20, np.uint16)
    train.tofile(tmp_path / "train.bin")
    heldout.tofile(tmp_path / "val.bin")
    source = resolve(corpus=str(tmp_path), vocabulary=5, cache=tmp_path / "cache")
    assert source.tokenizer is None
    assert source.counts.tolist() == [40, 40, 20, 0, 0]
    assert source.text(source.heldout[:3]) == "2 1 2"
    assert not (tmp_path / "cache").exists()
    assert source.hash != resolve(corpus=str(tmp_path), vocabulary=6, cache=tmp_path).hash
    with pytest.raises(BadSource, match="outside the vocabulary"):
        resolve(corpus=str(tmp_path), vocabulary=2, cache=tmp_path)


def test_pieces_of_a_meta_file_make_text(tmp_path):
    np.array([1, 0, 1], np.uint16).tofile(tmp_path / "train.bin")
    np.array([0, 1], np.uint16).tofile(tmp_path / "val.bin")
    (tmp_path / "meta.json").write_text('{"vocab_size": 3, "itos": {"0": "a", "1": "b"}}')
    source = resolve(corpus=str(tmp_path), cache=tmp_path)
    assert source.text([1, 0, 2]) == "ba�"


def test_a_text_too_small_to_split_is_refused_with_its_size(tmp_path):
    path = tmp_path / "tiny.txt"
    path.write_text("a")
    with pytest.raises(BadSource, match="1 characters"):
        resolve(corpus=str(path), tokenizer="bytes", cache=tmp_path / "cache")
