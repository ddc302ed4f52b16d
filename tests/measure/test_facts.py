"""What is known of a series that names no data."""

import pytest

from ontogeny.errors import BadSource
from ontogeny.measure.facts import TextFacts
from ontogeny.sources.tokenizer import byte_tokenizer
from ontogeny.testing import tiny_subject


@pytest.fixture
def facts(tmp_path):
    """Of a model of 256 tokens and 40 positions, with a byte tokenizer and a text of 1,000 bytes."""
    byte_tokenizer().save(tmp_path)
    text = tmp_path / "text.txt"
    text.write_text("0123456789" * 100)
    return TextFacts(tiny_subject(vocabulary=256), tmp_path, text)


def test_windows_are_spread_from_the_first_token_to_the_last(facts):
    tokens, weights = facts.heldout(10, 40)
    assert tokens.shape == weights.shape == (10, 40)
    assert tokens[0].tolist() == list(("0123456789" * 4).encode())
    assert facts.text(tokens[-1]).endswith("0123456789")
    assert weights[:, :-1].min() == 1
    assert weights[:, -1].max() == 0


def test_no_more_windows_than_the_text_has(facts):
    assert len(facts.heldout(500, 40)[0]) == 25


def test_rows_of_a_short_text_become_shorter_not_fewer_than_eight(facts):
    """1,000 tokens are 15 rows of 64 and not 8 of 128."""
    assert facts.heldout(128, 200)[0].shape == (10, 100)
    assert facts.heldout(128, 512)[0].shape == (15, 64)


def test_a_text_for_fewer_than_eight_is_too_short(facts):
    facts.path.write_text("0123456789" * 50)
    with pytest.raises(BadSource, match=r"too short[\s\S]*500 tokens[\s\S]*512[\s\S]*longer text"):
        facts.heldout(128, 512)
    assert len(facts.heldout(128, 40)[0]) == 12


def test_a_tokenizer_of_another_model_is_refused(facts):
    facts.vocabulary = 50
    with pytest.raises(BadSource, match="not the model's"):
        facts.heldout(10, 40)


def test_rows_that_no_token_reaches_are_not_used(facts, tmp_path):
    assert TextFacts(tiny_subject(vocabulary=304), tmp_path, None).vocabulary == 256
    assert TextFacts(tiny_subject(vocabulary=200), tmp_path, None).vocabulary == 200
    (tmp_path / "tokenizer.json").write_text("{")
    unreadable = TextFacts(tiny_subject(vocabulary=304), tmp_path, facts.path)
    assert unreadable.vocabulary == 304
    with pytest.raises(BadSource, match="cannot be read"):
        unreadable.heldout(10, 40)


def test_what_is_not_there_is_unknown(facts, tmp_path):
    assert facts.token_counts() is None
    assert facts.beginning() is None
    assert facts.fixed_lags() == frozenset()
    bare = TextFacts(tiny_subject(), tmp_path / "nowhere", None)
    assert bare.heldout(10, 40) is None
    assert bare.beginning() is None
    assert (bare.vocabulary, bare.context) == (40, 40)


def test_a_text_beside_a_series_is_not_what_it_was_trained_on(facts):
    assert facts.statistics() is None


def test_word_starts_are_the_tokenizers(facts):
    assert facts.word_starts().nonzero().flatten().tolist() == [9, 10, 11, 12, 13, 28, 29, 30, 31, 32]
    assert len(facts.word_starts()) == facts.vocabulary
