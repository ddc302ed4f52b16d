import itertools

from hypothesis import given
from hypothesis import strategies as st

from ontogeny.report.lettering import clean, spread, stack, width

positions = st.lists(st.floats(0, 500), min_size=1, max_size=8)


@given(positions)
def test_labels_keep_apart_and_in_order(wanted):
    placed = spread(wanted, 13.0, 0.0, 500.0)
    ordered = sorted(range(len(wanted)), key=lambda index: wanted[index])
    heights = [placed[index] for index in ordered]
    assert all(b - a >= 13 - 1e-6 for a, b in itertools.pairwise(heights))


def test_labels_with_room_stay_where_they_are():
    assert spread([100.0, 10.0], 13.0, 0.0, 200.0) == [100.0, 10.0]


@given(positions)
def test_stacked_labels_do_not_cover_each_other(starts):
    starts = sorted(starts)
    placed = stack(starts, [60.0] * len(starts), 0.0, 500.0)
    for (row, begin), (other, start) in itertools.combinations(placed, 2):
        assert row != other or abs(begin - start) >= 60
    assert all(0 <= begin <= 440 for _, begin in placed)


def test_a_line_reaches_its_label_without_crossing_another():
    (first, _), (second, _) = stack([10.0, 30.0], [100.0, 100.0], 0.0, 500.0)
    assert first > second


def test_clean_removes_what_has_no_shape():
    assert clean("a\x00b\nc\u202ed") == "a b cd"
    assert clean("x" * 50) == "x" * 33 + "…"


def test_wide_letters_are_wider():
    assert width("漢字", 10.0) > width("ab", 10.0)
