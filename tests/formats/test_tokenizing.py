"""Which tokenizer lies with a checkpoint, and what its length says beside the embedding's."""

import pytest
import torch

from ontogeny import formats
from ontogeny.errors import BadSource
from ontogeny.formats import Lengths, Weights
from ontogeny.sources.tokenizer import byte_tokenizer


def test_a_folders_tokenizer_is_its_json_or_its_only_binary(tmp_path, shared_data):
    assert formats.tokenizer_in(tmp_path) is None
    binary = (shared_data / "stories260k" / "tok512.bin").read_bytes()
    (tmp_path / "tok512.bin").write_bytes(binary)
    found = formats.tokenizer_in(tmp_path)
    assert found is not None
    assert found.vocabulary == 512
    (tmp_path / "tok2.bin").write_bytes(binary)
    assert formats.tokenizer_in(tmp_path) is None, "two are none"
    byte_tokenizer().save(tmp_path)
    found = formats.tokenizer_in(tmp_path)
    assert found is not None
    assert found.vocabulary == 256
    (tmp_path / "tokenizer.json").write_text("{")
    with pytest.raises(BadSource):
        formats.tokenizer_in(tmp_path)


@pytest.mark.parametrize(
    ("rows", "tokens", "unused", "unreachable"),
    [(304, 256, 48, 0), (256, 256, 0, 0), (250, 256, 0, 6), (None, 256, 0, 0), (256, None, 0, 0)],
)
def test_what_the_two_lengths_leave_over(rows, tokens, unused, unreachable):
    lengths = Lengths(rows, tokens)
    assert (lengths.unused, lengths.unreachable) == (unused, unreachable)


def test_rows_are_the_token_embeddings_and_not_another_tables():
    tables = {"word_embeddings.weight": torch.ones(61, 8), "position_embeddings.weight": torch.ones(512, 8)}
    assert formats.lengths_of(Weights(tables, {"vocab_size": 61})).rows == 61
    assert formats.lengths_of(Weights(tables)).rows == 61
    assert formats.lengths_of(Weights({"a": torch.ones(3, 2)})) == Lengths(None, None)
