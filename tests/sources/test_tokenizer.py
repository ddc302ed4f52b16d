"""Tokens and texts go into each other without loss, alike here and in `transformers`."""

import json
import os
import subprocess
import sys

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st

from ontogeny.errors import BadSource
from ontogeny.sources import read_corpus
from ontogeny.sources.tokenizer import (
    Tokenizer,
    byte_letters,
    byte_tokenizer,
    one_thread,
    read_tokenizer,
    trained_bpe,
)

TEXTS = [
    "def add(a, b):\n    return a + b  # the sum\n",
    "the theory that there then gathers\t\r\n",
    "naïve café — 日本語 🙂",
] * 5
BYTES = byte_tokenizer()
BPE = trained_bpe(TEXTS, 300)


@given(st.text())
def test_bytes_are_their_own_ids(text):
    [tokens] = BYTES.encode([text])
    assert bytes(tokens.tolist()) == text.encode()
    assert BYTES.decode(tokens.tolist()) == text


@given(st.text())
@settings(max_examples=200)
def test_bpe_gives_every_text_back(text):
    [tokens] = BPE.encode([text])
    assert BPE.decode(tokens.tolist()) == text
    assert len(tokens) <= len(text.encode())


def test_the_letters_of_bytes_are_those_of_tokenizers():
    assert sorted(byte_letters()) == sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())


def test_a_batch_is_encoded_as_its_documents_are():
    together = BPE.encode(TEXTS)
    alone = [BPE.encode([text])[0] for text in TEXTS]
    assert [tokens.tolist() for tokens in together] == [tokens.tolist() for tokens in alone]


def test_sizes():
    assert BYTES.vocabulary == 256
    assert BPE.vocabulary == 300
    assert trained_bpe(["aaaa"], 1000).vocabulary < 300
    with pytest.raises(BadSource, match="too small"):
        trained_bpe(TEXTS, 256)


def test_training_twice_gives_the_same_merges():
    assert trained_bpe(TEXTS, 300).hash == BPE.hash


@pytest.mark.slow
def test_another_process_trains_the_same_merges():
    script = (
        "from ontogeny.sources import read_corpus, trained_bpe\n"
        "print(trained_bpe(read_corpus('python-stdlib').documents[:12], 400).hash)"
    )
    other = {**os.environ, "PYTHONHASHSEED": "1"}
    command = [sys.executable, "-c", script]
    told = subprocess.run(command, capture_output=True, text=True, check=True, env=other).stdout
    assert told.strip() == trained_bpe(read_corpus("python-stdlib").documents[:12], 400).hash


def test_the_thread_setting_is_put_back(monkeypatch):
    monkeypatch.delenv("TOKENIZERS_PARALLELISM", raising=False)
    with one_thread():
        assert os.environ["TOKENIZERS_PARALLELISM"] == "false"
    assert "TOKENIZERS_PARALLELISM" not in os.environ
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "true")
    with pytest.raises(KeyError), one_thread():
        raise KeyError
    assert os.environ["TOKENIZERS_PARALLELISM"] == "true"


def folder_with_bos(folder):
    """A tokenizer whose template opens every text with <s>, as Llama's does."""
    pipeline = tokenizers.Tokenizer.from_str(BPE.pipeline.to_str())
    pipeline.add_special_tokens(["<s>", "</s>"])
    number = pipeline.token_to_id("<s>")
    pipeline.post_processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", number)]
    )
    pipeline.enable_truncation(4)
    pipeline.save(str(folder / "tokenizer.json"))
    config = {"bos_token": {"content": "<s>", "lstrip": False}, "eos_token": "</s>", "pad_token": None}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return number


def test_a_beginning_is_one_only_if_texts_begin_with_it(tmp_path):
    number = folder_with_bos(tmp_path)
    read = read_tokenizer(tmp_path)
    assert read.bos == number == 300
    assert read.vocabulary == 302
    [tokens] = read.encode(["a text longer than four tokens"])
    assert tokens[0] == number
    assert read.decode(tokens.tolist()) == "<s>a text longer than four tokens"
    read.pipeline.post_processor = tokenizers.processors.ByteLevel()
    assert type(read)(read.pipeline, read.special).bos is None
    assert BPE.bos is BYTES.bos is None


def test_what_was_saved_reads_as_the_same(tmp_path):
    BPE.save(tmp_path)
    read = read_tokenizer(tmp_path)
    assert read.hash == BPE.hash
    assert [t.tolist() for t in read.encode(TEXTS)] == [t.tolist() for t in BPE.encode(TEXTS)]


def test_transformers_loads_and_encodes_identically(tmp_path):
    transformers = pytest.importorskip("transformers")
    (tmp_path / "llama").mkdir()
    folder_with_bos(tmp_path / "llama")
    for name, tokenizer in {
        "bytes": BYTES,
        "bpe": BPE,
        "bos": read_tokenizer(tmp_path / "llama"),
    }.items():
        (tmp_path / name).mkdir()
        tokenizer.save(tmp_path / name)
        theirs = transformers.AutoTokenizer.from_pretrained(str(tmp_path / name))
        for text, tokens in zip(TEXTS[:3], tokenizer.encode(TEXTS[:3]), strict=True):
            assert theirs.encode(text) == tokens.tolist(), name
            assert theirs.decode(tokens.tolist()) == tokenizer.decode(tokens.tolist())
    assert theirs.bos_token == "<s>"


def test_a_folder_without_a_readable_tokenizer_is_refused(tmp_path):
    with pytest.raises(BadSource, match=r"no tokenizer\.json"):
        read_tokenizer(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(BadSource, match="cannot be read"):
        read_tokenizer(tmp_path)
    BYTES.save(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text("{")
    with pytest.raises(BadSource, match="not JSON"):
        read_tokenizer(tmp_path)


def test_word_starts_are_the_tokens_that_begin_with_white_space():
    made = trained_bpe(["the cat sat on the mat\n" * 50], 300)
    starts = made.word_starts
    assert len(starts) == made.vocabulary
    for token in range(made.vocabulary):
        text = made.decode([token])
        if "\ufffd" not in text:
            assert starts[token] == text[:1].isspace(), text
    assert starts[made.encode(["a the"])[0][1]]
    assert byte_tokenizer().word_starts.nonzero()[0].tolist() == [9, 10, 11, 12, 13, 28, 29, 30, 31, 32]


def test_word_starts_are_read_where_a_decoder_strips_the_first_space():
    pieces = {"<unk>": 0, "▁the": 1, "▁c": 2, "at": 3, "a": 4, "▁a": 5}
    pipeline = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=pieces, merges=[], unk_token="<unk>"))
    pipeline.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    pipeline.decoder = tokenizers.decoders.Metaspace()
    made = Tokenizer(pipeline)
    assert made.decode([1]) == "the"
    assert made.word_starts.nonzero()[0].tolist() == [1, 2, 5]
