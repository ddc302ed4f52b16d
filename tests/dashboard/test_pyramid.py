"""Whatever the zoom: no extreme is lost, no edge moves, and what is kept gives what raw points give."""

import math

import numpy as np
import pytest

from ontogeny.dashboard import pyramid as module
from ontogeny.dashboard.pyramid import Pyramid, level_within, window_means, within
from ontogeny.dashboard.strands import Strand
from ontogeny.views.buckets import FINEST, buckets, level_for, merged


@pytest.fixture
def long(monkeypatch):
    """A strand of 20,000 points, which counts as long."""
    monkeypatch.setattr(module, "LONG", 1000)
    monkeypatch.setattr(module, "KEPT", 512)
    return strand(20_000)


def strand(count: int, seed: int = 0) -> Strand:
    rng = np.random.default_rng(seed)
    y = rng.standard_t(2, count)
    y[rng.integers(count, size=count // 50)] = np.array([math.nan, math.inf])[
        rng.integers(2, size=count // 50)
    ]
    return Strand(0, False, (), np.sort(rng.integers(0, 3 * count, count)).astype(np.int64), y)


def cut(whole: Strand, count: int) -> Strand:
    return Strand(0, False, (), whole.x[:count], whole.y[:count])


def fields(held):
    return {name: getattr(held, name).tobytes() for name in held.__dataclass_fields__}


@pytest.mark.parametrize("spacing", ["linear", "step"])
def test_what_is_kept_gives_what_raw_points_give_at_every_level(long, spacing):
    kept = Pyramid(long, spacing)
    assert kept.base is not None
    for level in range(kept.level, FINEST + 1 if spacing == "step" else 20):
        expected = buckets(long.x, long.y, spacing=spacing, level=level)
        assert fields(kept.within(0, 2**52, level)) == fields(expected)


@pytest.mark.parametrize("spacing", ["linear", "step"])
def test_a_strand_that_grew_has_the_buckets_of_one_that_did_not(long, spacing):
    grown = Pyramid(cut(long, 1500), spacing)
    for count in (1501, 1800, 5000, 5000, 19_999, 20_000):
        grown = grown.grown(cut(long, count))
        level = max(grown.level, 3)
        expected = buckets(long.x[:count], long.y[:count], spacing=spacing, level=level)
        assert fields(grown.within(0, 2**52, level)) == fields(expected)


@pytest.mark.parametrize("spacing", ["linear", "step"])
def test_edges_stay_where_they_are_as_points_are_added(long, spacing):
    """Of one level: every bucket but the last is the same before and after."""
    before, after = Pyramid(cut(long, 12_000), spacing), Pyramid(long, spacing)
    for level in (0, 4, 8):
        first, second = before.within(0, 2**52, level), after.within(0, 2**52, level)
        count = len(first) - 1
        assert first.left.tolist() == second.left[: count + 1].tolist()
        for name in ("right", "first", "low", "high", "last", "count"):
            old, new = getattr(first, name)[:count], getattr(second, name)[:count]
            assert old.tobytes() == new.tobytes()


def test_a_part_of_the_axis_is_given_in_whole_buckets(long):
    kept, whole = Pyramid(long, "linear"), Pyramid(long, "linear").within(0, 2**52, 6)
    part = kept.within(10_001, 20_003, 6)
    inside = (whole.right > 10_001) & (whole.left <= 20_003)
    assert part.left.tolist() == whole.left[inside].tolist()
    assert part.count.tolist() == whole.count[inside].tolist()
    assert len(kept.within(70_000, 80_000, 2)) == 0


@pytest.mark.parametrize("spacing", ["linear", "step"])
@pytest.mark.parametrize("most", [1, 50, 600, 100_000])
def test_the_level_is_the_finest_that_fits(long, spacing, most):
    kept = Pyramid(long, spacing)
    level = kept.level_within(0, 2**52, most)
    assert level == level_for(long.x, spacing, most)
    assert len(kept.within(0, 2**52, level)) <= most or level == FINEST
    if level:
        assert len(kept.within(0, 2**52, level - 1)) > most


@pytest.mark.parametrize("spacing", ["linear", "step"])
@pytest.mark.parametrize("span", [(0, 2**52), (10_001, 20_003), (10**9, 2 * 10**9)])
def test_several_together_are_what_each_is_alone(long, spacing, span):
    """Equal x, unequal x and none, long strands and short ones: sharing their edges changes nothing."""
    short = cut(long, 800)
    other = Strand(0, False, (), short.x, np.where(np.isfinite(short.y), -short.y, 7.0))
    empty = Strand(0, False, (), np.zeros(0, np.int64), np.zeros(0))
    every = [Pyramid(one, spacing) for one in (short, other, long, strand(900, seed=5), empty, other)]
    assert level_within([], *span, 50) == 0
    for most in (1, 50, 600, 100_000):
        assert level_within(every, *span, most) == max(one.level_within(*span, most) for one in every)
    for level in (0, 3, 7):
        together = within(every, *span, level)
        assert [fields(held) for held in together] == [fields(one.within(*span, level)) for one in every]


def test_a_thousand_spikes_show_at_every_zoom():
    """10^5 and more points of noise with one-step spikes up and down: each is an extreme of its bucket, or
    shares it with a larger one, at every level of both spacings."""
    rng = np.random.default_rng(3)
    count, spikes = 200_000, rng.choice(200_000, 1000, replace=False)
    y = rng.standard_normal(count)
    y[spikes] = np.where(np.arange(1000) % 2, 1, -1) * rng.uniform(10, 20, 1000)
    whole = Strand(0, False, (), np.arange(count), y)
    for spacing, levels in (("linear", range(19)), ("step", range(FINEST + 1))):
        kept = Pyramid(whole, spacing)
        for level in levels:
            held = kept.within(0, count, level)
            index = held.index(spikes)
            up = y[spikes] > 0
            assert (np.where(up, held.high[index] >= y[spikes], held.low[index] <= y[spikes])).all()
            assert held.high.max() == y.max()
            assert held.low.min() == y.min()
            assert held.count.sum() == count


def test_window_means_are_plain_means():
    whole = strand(5000, seed=1)
    rng = np.random.default_rng(2)
    low = rng.integers(0, 15_000, 300)
    high = low + rng.integers(0, 12_000, 300)
    found = window_means(whole, low, high)
    for index, (first, last) in enumerate(zip(low, high, strict=True)):
        held = whole.y[(whole.x >= first) & (whole.x <= last)]
        held = held[np.isfinite(held)]
        expected = held.mean() if len(held) else math.nan
        assert found[index] == pytest.approx(expected, rel=1e-12, nan_ok=True)


def test_a_huge_value_leaves_no_trace_in_windows_without_it():
    y = np.full(10_000, 0.1)
    y[5000] = 1e300
    means = window_means(
        Strand(0, False, (), np.arange(10_000), y), np.array([0, 5001]), np.array([4999, 9999])
    )
    assert means == pytest.approx([0.1, 0.1], rel=1e-15)


def test_merging_nothing_is_nothing():
    assert len(merged(buckets([], [], level=3), 5, "linear")) == 0
