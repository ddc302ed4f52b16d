import numpy as np

from ontogeny.nulls import circular_shift

STEPS = np.arange(1, 61)


def test_every_draw_is_the_series_begun_elsewhere():
    series = np.random.default_rng(0).normal(size=60)
    draws = circular_shift(STEPS, series, draws=300)
    np.testing.assert_array_equal(np.sort(draws, axis=1), np.sort(series)[None].repeat(300, axis=0))
    begins = {int(np.flatnonzero(draw == series[0])[0]) for draw in draws}
    assert begins == set(range(6, 55))
    wrapped = np.roll(series, int(np.flatnonzero(draws[0] == series[0])[0]))
    np.testing.assert_array_equal(draws[0], wrapped)
