"""Counts of training data: asked for once, kept by content, made again where they cannot be trusted."""

import numpy as np
import pytest
import torch

from ontogeny.sources import CorpusStatistics, Named, corpus_statistics, resolve, resolve_mixture

ROWS = torch.tensor([[108, 105, 110, 101, 32], [97, 32, 115, 109, 97]])  # "line ", "a sma"


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "small.txt"
    path.write_text("".join(f"line {number} of a small text\n" for number in range(400)))
    return path


def source_of(text, tmp_path):
    return resolve(corpus=str(text), tokenizer="bytes", cache=tmp_path / "cache")


def surprisal(statistics, rows=ROWS):
    length = rows.shape[1]
    places = torch.tensor([0, 1, 2, 3])
    return statistics.ngrams(rows).target_surprisal(places, rows.flatten()[1:length])


def test_a_source_counts_its_training_stream_alone(text, tmp_path):
    source = source_of(text, tmp_path)
    assert source.statistics is source.statistics
    assert source.statistics.counts.tolist() == source.counts.tolist()
    assert source.statistics.vocabulary == 256
    assert surprisal(source.statistics)[1:].max() < 0.1  # after "l" all of "line " is nearly certain
    assert (source.statistics.neighbours.chance > 0).all()


def test_counts_are_kept_beside_a_cached_stream(text, tmp_path, monkeypatch):
    source = source_of(text, tmp_path)
    first = surprisal(source.statistics)
    (kept,) = source.folder.glob("ngrams-*.npz")
    monkeypatch.setattr(corpus_statistics, "continuations", lambda *_: pytest.fail("counted again"))
    assert source.statistics.ngrams(ROWS) is source.statistics.ngrams(ROWS.clone())
    assert torch.equal(surprisal(source_of(text, tmp_path).statistics), first)
    assert kept.stat().st_size > 0


@pytest.mark.parametrize(
    "damage",
    [lambda data: data[:100], lambda data: b"", lambda data: b"nonsense", lambda data: _flipped(data)],
)
def test_what_cannot_be_read_is_counted_again(text, tmp_path, damage):
    source = source_of(text, tmp_path)
    first = surprisal(source.statistics)
    (kept,) = source.folder.glob("ngrams-*.npz")
    kept.write_bytes(damage(kept.read_bytes()))
    assert torch.equal(surprisal(source_of(text, tmp_path).statistics), first)


@pytest.mark.parametrize("damage", [lambda data: data, lambda data: data[:100], lambda data: _flipped(data)])
def test_neighbours_are_kept_too_and_counted_again_if_damaged(text, tmp_path, damage, monkeypatch):
    source = source_of(text, tmp_path)
    first = source.statistics.neighbours
    (kept,) = source.folder.glob("neighbours-*.npz")
    whole = kept.read_bytes()
    kept.write_bytes(damage(whole))
    if kept.read_bytes() == whole:
        monkeypatch.setattr(corpus_statistics, "neighbours", lambda *_: pytest.fail("counted again"))
    again = source_of(text, tmp_path).statistics.neighbours
    assert np.array_equal(again.token, first.token)
    assert np.array_equal(again.chance, first.chance)
    for name, alike in first.cosines.items():
        assert np.array_equal(again.cosines[name].values, alike.values, equal_nan=True)
        assert again.cosines[name].values.dtype == alike.values.dtype


def _flipped(data):
    at = len(data) // 2
    return data[:at] + bytes(255 - byte for byte in data[at : at + 40]) + data[at + 40 :]


def test_other_rows_and_other_text_are_counted_for_themselves(text, tmp_path):
    source = source_of(text, tmp_path)
    source.statistics.ngrams(ROWS)
    source.statistics.ngrams(ROWS.flip(0))
    source.statistics.ngrams(ROWS[:, :4])
    assert len(list(source.folder.glob("ngrams-*.npz"))) == 3
    text.write_text(text.read_text().replace("line", "lime"))
    assert surprisal(source_of(text, tmp_path).statistics)[1] > 1


def test_token_files_are_left_as_they_are(tmp_path):
    rng = np.random.default_rng(0)
    for name in ("train", "val"):
        rng.integers(0, 50, 4000).astype(np.uint16).tofile(tmp_path / f"{name}.bin")
    source = resolve(corpus=str(tmp_path), vocabulary=50, cache=tmp_path / "cache")
    before = sorted(path.name for path in tmp_path.rglob("*"))
    assert source.statistics.ngrams(torch.zeros(1, 4, dtype=torch.long)).orders == 5
    assert sorted(path.name for path in tmp_path.rglob("*")) == before


def test_a_mixture_counts_all_its_sources(text, tmp_path):
    other = tmp_path / "other.txt"
    other.write_text("zebra " * 2000)
    mixed = resolve_mixture([Named(str(text)), Named(str(other))], tokenizer="bytes", cache=tmp_path / "c")
    zebra = torch.tensor([list(b"zebra")])
    assert mixed.statistics.counts.tolist() == mixed.counts.tolist()
    assert surprisal(mixed.statistics).max() < 5
    assert surprisal(mixed.statistics, zebra)[1:].max() < 0.1
    assert surprisal(mixed.sources[0].statistics, zebra)[2] > 1


def test_it_can_be_made_by_hand():
    stream = np.array([0, 1, 2] * 50, np.uint16)
    known = CorpusStatistics([stream], np.bincount(stream), "by hand")
    (kept, chances) = list(known.ngrams(torch.tensor([[0, 1]])).each_order(torch.tensor([0, 1]), 5))[1]
    assert kept.tolist() == [0, 1]
    assert chances.argmax(1).tolist() == [1, 2]
