import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontogeny.errors import BadContract
from ontogeny.views.buckets import buckets, level_for, merged, smoothed
from ontogeny.views.buckets import edges as edges_of

SPACINGS = ("linear", "step")


def edges(held) -> set[tuple[int, int]]:
    return set(zip(held.left.tolist(), held.right.tolist(), strict=True))


@given(
    st.lists(st.integers(0, 10**7), min_size=2, max_size=400, unique=True),
    st.integers(1, 400),
    st.sampled_from(SPACINGS),
    st.integers(0, 10),
)
def test_edges_do_not_move_when_data_is_appended(steps, kept, spacing, level):
    steps = np.sort(steps)
    kept = min(kept, len(steps))
    before = buckets(steps[:kept], np.zeros(kept), spacing=spacing, level=level)
    after = buckets(steps, np.zeros(len(steps)), spacing=spacing, level=level)
    assert edges(before) <= edges(after)


@pytest.mark.parametrize("spacing", SPACINGS)
def test_a_growing_series_only_merges_whole_buckets(spacing):
    previous = None
    for length in (200, 500, 3_000, 20_000, 150_000):
        held = buckets(np.arange(length), np.zeros(length), spacing=spacing)
        assert len(held) <= 300
        if previous is not None:
            inside = [any(low <= a and b <= high for low, high in edges(held)) for a, b in edges(previous)]
            assert all(inside)
        previous = held


@pytest.mark.parametrize("spacing", SPACINGS)
def test_widths_are_powers_of_two_and_edges_their_multiples(spacing):
    held = buckets(np.arange(100_000), np.zeros(100_000), spacing=spacing)
    width = held.right - held.left
    assert (width & (width - 1) == 0).all()
    assert (held.left % width == 0).all()
    assert (held.right[:-1] == held.left[1:]).all()


@pytest.mark.parametrize("spacing", SPACINGS)
def test_none_of_a_thousand_spikes_is_lost(spacing):
    random = np.random.default_rng(0)
    values = random.standard_t(3, 200_000)
    where = random.choice(len(values), 1_000, replace=False)
    spikes = random.uniform(50, 100, 1_000) * random.choice([-1, 1], 1_000)
    values[where] = spikes
    held = buckets(np.arange(len(values)), values, spacing=spacing)
    mine = held.index(np.arange(len(values)))
    assert len(held) <= 300
    assert (held.low[mine] <= values).all()
    assert (values <= held.high[mine]).all()
    largest = [spikes[mine[where] == b].max() for b in np.unique(mine[where])]
    assert np.array_equal(
        held.high[np.unique(mine[where])][np.array(largest) > 0], [x for x in largest if x > 0]
    )


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=300), st.sampled_from(SPACINGS))
def test_every_point_is_counted_once(values, spacing):
    held = buckets(np.arange(len(values)), values, spacing=spacing, level=3)
    assert held.count.sum() == len(values)
    assert held.nonfinite.sum() == sum(not np.isfinite(v) for v in values)
    empty = held.count == held.nonfinite
    for name in ("first", "last", "low", "high"):
        assert np.array_equal(np.isnan(getattr(held, name)), empty)


def test_first_and_last_are_the_finite_ends_of_a_bucket():
    held = buckets([0, 1, 2, 3], [np.nan, 7.0, 2.0, np.inf], spacing="linear", level=2)
    assert (held.first[0], held.last[0], held.low[0], held.high[0], held.nonfinite[0]) == (7, 2, 2, 7, 2)


def test_unsorted_steps_are_put_in_order():
    held = buckets([5, 1, 3], [50.0, 10.0, 30.0])
    assert held.first.tolist() == [10, 30, 50]


def test_a_short_series_keeps_every_step():
    held = buckets([0, 1, 1000, 1001], [1.0, 2.0, 3.0, 4.0])
    assert held.centre.tolist() == [0, 1, 1000, 1001]


@pytest.mark.parametrize("steps", [[-1, 2], [0, 2**53]])
def test_steps_outside_the_axis_are_refused(steps):
    with pytest.raises(BadContract, match="cannot be bucketed"):
        buckets(steps, [0.0, 0.0])


def test_unequal_columns_are_refused():
    with pytest.raises(BadContract, match="pair up"):
        buckets([1, 2], [0.0])


def test_smoothing_is_a_mean_over_a_share_of_the_step():
    steps = np.arange(1, 1001)
    assert smoothed(steps, steps.astype(float), at=[500], window=0.2)[0] == pytest.approx(500)
    assert smoothed(steps, steps.astype(float), at=[3], window=0.2)[0] == 3


def test_a_huge_spike_leaves_later_means_alone():
    steps, values = np.arange(1, 1001), np.ones(1000)
    values[100], values[200] = 1e300, np.nan
    mean = smoothed(steps, values, at=[201, 900])
    assert mean.tolist() == [1.0, 1.0]


def test_a_window_without_a_finite_value_has_no_mean():
    assert np.isnan(smoothed([10], [np.inf], at=[10])[0])


@pytest.mark.parametrize("spacing", ["linear", "step"])
def test_merged_buckets_are_those_of_the_coarser_level(spacing):
    rng = np.random.default_rng(5)
    steps, values = np.sort(rng.integers(0, 9000, 3000)), rng.standard_normal(3000)
    values[rng.integers(0, 3000, 300)] = math.nan
    values[:40] = math.inf
    fine = buckets(steps, values, spacing=spacing, level=2)
    for level in range(2, 11):
        coarse, expected = merged(fine, level, spacing), buckets(steps, values, spacing=spacing, level=level)
        for field in dataclasses.fields(expected):
            assert getattr(coarse, field.name).tobytes() == getattr(expected, field.name).tobytes()


@pytest.mark.parametrize("spacing", ["linear", "step"])
def test_the_level_that_is_sought_is_the_one_that_is_chosen(spacing):
    steps = np.sort(np.random.default_rng(6).integers(0, 10**6, 5000))
    for most in (60, 300, 4999, 10**6):
        chosen = buckets(steps, np.zeros(5000), spacing=spacing, most=most)
        level = level_for(steps, spacing, most)
        assert chosen.left.tolist() == buckets(steps, steps, spacing=spacing, level=level).left.tolist()
    assert level_for(steps, spacing, 10**6, least=3) == 3


@pytest.mark.parametrize("spacing", ["linear", "step"])
def test_edges_are_those_of_the_bucket_that_holds_the_step(spacing):
    for step in (0, 1, 1000, 1023, 1024, 123_456_789):
        for level in (0, 3, 10):
            held = buckets([step], [1.0], spacing=spacing, level=level)
            assert edges_of(step, level, spacing) == (held.left[0], held.right[0])
