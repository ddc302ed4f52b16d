"""Counts against a plain count by hand."""

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontogeny.numerics import continuations as module
from ontogeny.numerics.continuations import continuations


def by_hand(streams, context):
    """How often each token follows a context, and after how many different tokens the two stand."""
    times, before = Counter(), defaultdict(set)
    width = len(context)
    for stream in streams:
        for at in range(width, len(stream)):
            if tuple(stream[at - width : at]) == context:
                times[stream[at]] += 1
                if at > width:
                    before[stream[at]].add(stream[at - width - 1])
    return dict(times), {token: len(before[token]) for token in times}


def check(streams, rows, vocabulary, longest=4):
    levels = continuations([np.array(s, np.uint16) for s in streams], np.array(rows), vocabulary, longest)
    assert len(levels) == longest + 1
    for width, level in enumerate(levels):
        for row, tokens in enumerate(rows):
            for position in range(len(tokens)):
                context = tuple(tokens[position + 1 - width : position + 1]) if width else ()
                number = level.context[row, position]
                assert (number < 0) == (len(context) < width)
                if number < 0:
                    continue
                part = slice(level.start[number], level.start[number + 1])
                times, before = by_hand(streams, context)
                assert dict(zip(level.token[part], level.times[part], strict=True)) == times
                assert dict(zip(level.token[part], level.preceded[part], strict=True)) == before


def test_a_small_stream():
    check([[0, 1, 2, 0, 1, 3, 0, 1, 2, 2, 0, 1]], [[0, 1, 2, 2], [3, 0, 1, 1]], 4)


def test_two_streams_do_not_touch():
    check([[0, 1, 2], [2, 0, 1]], [[2, 2, 0, 1, 2]], 3)


@pytest.mark.parametrize("piece", [1, 2, 5, 7])
def test_pieces_make_no_difference(monkeypatch, piece):
    monkeypatch.setattr(module, "PIECE", piece)
    rng = np.random.default_rng(piece)
    check([rng.integers(0, 3, 60).tolist()], rng.integers(0, 3, (3, 8)).tolist(), 3)


@settings(deadline=None, max_examples=25)
@given(st.data())
def test_any_stream(data):
    vocabulary = data.draw(st.integers(1, 5))
    tokens = st.integers(0, vocabulary - 1)
    streams = data.draw(st.lists(st.lists(tokens, min_size=1, max_size=40), min_size=1, max_size=2))
    length = data.draw(st.integers(1, 6))
    rows = data.draw(st.lists(st.lists(tokens, min_size=length, max_size=length), min_size=1, max_size=3))
    check(streams, rows, vocabulary)


def test_what_training_never_showed_has_no_entries():
    levels = continuations([np.array([0, 1, 0, 1])], np.array([[2, 2, 0]]), 3)
    at = levels[1].context[0, 0]
    assert levels[1].start[at] == levels[1].start[at + 1]
    assert levels[2].context[0, 1] >= 0


def test_large_ids_do_not_overflow():
    vocabulary = 250_000
    stream = np.array([249_999, 249_998] * 4, np.uint32)
    levels = continuations([stream], np.array([[249_999, 249_998, 249_999, 249_998]]), vocabulary)
    assert levels[4].token.tolist() == [249_999]
    assert levels[4].times.tolist() == [2]
