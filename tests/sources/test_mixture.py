"""A mixture is its sources by weight: exact rows, honest shares, one tokenizer, held-out parts of all."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ontogeny.errors import BadSource
from ontogeny.sources import (
    Mixture,
    Named,
    TokenSource,
    byte_tokenizer,
    resolve,
    resolve_mixture,
    trained_bpe,
)
from ontogeny.sources.mixture import MANY
from ontogeny.vocabulary import Streams

WIDTH = 9
#: What rounding may move an edge by.
TINY = Fraction(1, 1 << 45)


@pytest.fixture
def texts(tmp_path):
    """Two texts that have no letter in common but the newline."""
    first, second = tmp_path / "abc.txt", tmp_path / "xyz.txt"
    first.write_text("".join(f"{'abc'[k % 3]}{'cab'[k % 2]}ab\n" for k in range(900)))
    second.write_text("".join(f"{'xyz'[k % 3]}{'zyx'[k % 2]}xyzzy\n" for k in range(300)))
    return first, second


def tiny_source():
    stream = np.arange(50, dtype=np.uint16)
    return TokenSource("tiny", stream, stream, 50, np.bincount(stream), "0", "0", "")


def mixed(texts, tmp_path, weights=(3.0, 1.0), **chosen) -> Mixture:
    named = [Named(str(path), weight) for path, weight in zip(texts, weights, strict=True)]
    return resolve_mixture(named, cache=tmp_path / "cache", **({"tokenizer": "bytes"} | chosen))


def drawn(mixture, rows=4000, step=0):
    return mixture.draw(rows, WIDTH, Streams(0).generator("data", step))


def test_rows_are_windows_of_the_source_that_the_draw_names(texts, tmp_path):
    mixture = mixed(texts, tmp_path)
    items = drawn(mixture, 200)
    rows = mixture.windows(items, WIDTH)
    whole = [source.text(source.train) for source in mixture.sources]
    for (number, place, _), row in zip(items.tolist(), rows, strict=True):
        start = place % (len(whole[number]) - WIDTH + 1)
        assert mixture.text(row) == whole[number][start : start + WIDTH]
    assert torch.equal(drawn(mixture, 200), items)
    assert not torch.equal(drawn(mixture, 200, step=1), items)


@given(st.lists(st.floats(0, 10), min_size=2, max_size=5).filter(lambda w: sum(w) > 0.1))
def test_a_source_is_the_part_of_the_weights_in_which_the_chance_lies(weights):
    """Against exact fractions, sources without weight among them."""
    shares = [Fraction(weight) / sum(map(Fraction, weights)) for weight in weights]
    mixture = Mixture((tiny_source(),) * len(weights), tuple(map(float, shares)), "")
    for source, _, chance in drawn(mixture, 100).tolist():
        below, quantile = sum(shares[:source]), Fraction(chance, MANY)
        assert shares[source] > 0
        assert below - TINY <= quantile < below + shares[source] + TINY


def test_shares_of_rows_are_the_weights_within_three_standard_errors():
    weights = (0.5, 0.3, 0.15, 0.05)
    mixture = Mixture((tiny_source(),) * 4, weights, "")
    for count, share in zip(mixture.rows_of(drawn(mixture)), weights, strict=True):
        assert abs(count - 4000 * share) < 3 * (4000 * share * (1 - share)) ** 0.5


def test_every_start_of_every_source_is_reached():
    mixture = Mixture((tiny_source(),) * 2, (0.5, 0.5), "")
    items = drawn(mixture)
    for number in range(2):
        first = mixture.windows(items[items[:, 0] == number], WIDTH)[:, 0]
        assert torch.equal(first.unique(), torch.arange(50 - WIDTH + 1))


def test_other_weights_keep_every_row_whose_source_stays(texts, tmp_path):
    mixture = mixed(texts, tmp_path)
    items = drawn(mixture)
    assert torch.equal(mixture.reweighted(items, mixture.weights), items)
    assert torch.equal(mixture.reweighted(items, (3, 1)), items), "weights count up to a factor"
    moved = mixture.reweighted(items, (0.5, 0.5))
    assert torch.equal(moved[:, 1:], items[:, 1:])
    stays = moved[:, 0] == items[:, 0]
    assert 0.7 < float(stays.float().mean()) < 0.8, "a quarter goes from the first to the second"
    assert torch.equal(mixture.windows(moved, WIDTH)[stays], mixture.windows(items, WIDTH)[stays])
    back = mixture.reweighted(moved, mixture.weights)
    assert torch.equal(back, items)
    assert mixture.rows_of(mixture.reweighted(items, (0, 1))) == [0, 4000]
    assert mixture.rows_of(mixture.reweighted(items, (1, 0))) == [4000, 0]


def test_held_out_rows_are_shared_equally_whatever_the_weights(texts, tmp_path):
    one, other = mixed(texts, tmp_path), mixed(texts, tmp_path, weights=(0.0, 1.0))
    rows = one.heldout_windows(5, WIDTH)
    assert one.heldout_rows(5) == [3, 2]
    assert torch.equal(rows, other.heldout_windows(5, WIDTH))
    assert set(one.text(rows[:3].flatten())) <= set("abc\n")
    assert set(one.text(rows[3:].flatten())) <= set("xyz\n")
    assert np.array_equal(one.counts, sum(source.counts for source in one.sources))
    assert one.hash == other.hash
    with pytest.raises(BadSource, match=r"xyz\.txt is too short"):
        one.heldout_windows(38, WIDTH)
    with pytest.raises(BadSource, match=r"xyz\.txt is shorter than one row"):
        one.require_rows(len(one.sources[1].heldout) + 1)


def test_bpe_is_trained_on_all_or_on_the_one_that_is_named(texts, tmp_path):
    both = mixed(texts, tmp_path, tokenizer="bpe", size=265)
    train = [source.text(source.train) for source in both.sources]
    assert both.tokenizer.hash == trained_bpe(train, 265).hash
    assert both.encoding == "bpe trained on the training parts of all corpora"
    alone = mixed(texts, tmp_path, tokenizer="bpe", size=265, trained_on=str(texts[1]))
    assert alone.tokenizer.hash == trained_bpe(train[1:], 265).hash != both.tokenizer.hash
    assert {source.tokenizer.hash for source in alone.sources} == {alone.tokenizer.hash}
    single = resolve(corpus=str(texts[1]), tokenizer="bpe", size=265, cache=tmp_path / "cache")
    assert single.folder == alone.sources[1].folder, "the same text under the same tokenizer, kept once"
    assert single.hash == alone.sources[1].hash


def test_what_is_cached_is_neither_trained_nor_encoded_again(texts, tmp_path, monkeypatch):
    first = mixed(texts, tmp_path, tokenizer="bpe", size=265)
    monkeypatch.setattr("ontogeny.sources.mixture.trained_bpe", lambda *_: pytest.fail("trained again"))
    again = mixed(texts, tmp_path, tokenizer="bpe", size=265, weights=(1.0, 9.0))
    assert (again.hash, again.corpus_hash) == (first.hash, first.corpus_hash)
    texts[0].write_text("another text\n" * 200)
    monkeypatch.undo()
    assert mixed(texts, tmp_path, tokenizer="bpe", size=265).hash != first.hash


def test_sources_of_one_name_are_numbered(texts, tmp_path):
    (tmp_path / "other").mkdir()
    twin = tmp_path / "other" / "abc.txt"
    twin.write_text("abacab\n" * 300)
    assert mixed((texts[0], twin), tmp_path).names == ("abc.txt.0", "abc.txt.1")
    assert mixed(texts, tmp_path).name == "abc.txt + xyz.txt"


def test_token_files_mix_with_their_like_only(texts, tmp_path):
    folders = []
    for name in ("one", "two"):
        folders.append(tmp_path / name)
        folders[-1].mkdir()
        for part in ("train", "val"):
            np.arange(90, dtype=np.uint16).tofile(folders[-1] / f"{part}.bin")
    named = [Named(str(folder), 1.0, vocabulary=90) for folder in folders]
    mixture = resolve_mixture(named, cache=tmp_path)
    assert (mixture.tokenizer, mixture.vocabulary, mixture.encoding) == (None, 90, "token files")
    with pytest.raises(BadSource, match=r"one and two mean different things"):
        resolve_mixture([named[0], named[1]._replace(vocabulary=91)], cache=tmp_path)
    with pytest.raises(BadSource, match="cannot be mixed"):
        resolve_mixture([named[0], Named(str(texts[0]))], cache=tmp_path)


def test_a_given_tokenizer_encodes_all(texts, tmp_path):
    (tmp_path / "kept").mkdir()
    byte_tokenizer().save(tmp_path / "kept")
    given = mixed(texts, tmp_path, tokenizer=str(tmp_path / "kept"))
    assert given.hash == mixed(texts, tmp_path).hash
    assert given.encoding == f"tokenizer {tmp_path / 'kept'}"
