"""Nulls of single series: by name, over places, and brought to the noise of each."""

import numpy as np
import pytest

from ontogeny.detect.candidates import Candidates
from ontogeny.detect.nulls import Drawn, SeriesNull
from ontogeny.errors import BadContract, UnknownName
from ontogeny.vocabulary import Place

STEPS = np.arange(1, 61)


def candidates(*values: np.ndarray) -> Candidates:
    places = tuple(Place(layer=n) for n in range(len(values)))
    return Candidates("norm", "norm", "", STEPS, places, np.stack(values))


def noise(seed: int, sd: float = 1.0) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, sd, len(STEPS))


def test_a_null_is_read_with_its_parameters():
    null = SeriesNull.of("autoregressive(draws=7)")
    assert null.draws(STEPS, noise(0)).shape == (7, 60)
    assert null.text == "autoregressive(draws=7)"
    assert SeriesNull.of("autoregressive").text == "autoregressive"


def test_what_is_no_null_of_series_is_refused():
    with pytest.raises(UnknownName, match="autoregressive"):
        SeriesNull.of("autoregresive")
    with pytest.raises(UnknownName, match="null of series"):
        SeriesNull.of("shuffled_lag")
    with pytest.raises(UnknownName, match="parameter"):
        SeriesNull.of("autoregressive(phi=1)")
    with pytest.raises(BadContract):
        SeriesNull.of("autoregressive(7)")


def test_the_same_series_has_the_same_draws():
    null = SeriesNull.of("autoregressive")
    np.testing.assert_array_equal(null.draws(STEPS, noise(1)), null.draws(STEPS, noise(1)))


def test_other_places_are_brought_to_the_noise_of_this_one():
    drawn = Drawn.of(SeriesNull.of("autoregressive"), candidates(noise(1), 1000 + noise(2, sd=50)))
    small, large = drawn.at(0), drawn.at(1)
    assert small.shape == large.shape == (199, 2, 60)
    assert small[:, 1].std() == pytest.approx(small[:, 0].std(), rel=0.3)
    assert large[:, 1].std() == pytest.approx(50 * small[:, 0].std(), rel=0.3)
    assert np.median(small) == pytest.approx(0, abs=0.5)


def test_the_largest_over_places_is_larger_than_that_of_one():
    one = Drawn.of(SeriesNull.of("autoregressive"), candidates(noise(1))).at(0)
    many = Drawn.of(SeriesNull.of("autoregressive"), candidates(*(noise(n) for n in range(1, 9)))).at(0)
    assert one.shape[1] == 1
    assert np.abs(many).max((1, 2)).mean() > np.abs(one).max((1, 2)).mean() + 0.3


def test_constant_places_tell_nothing_of_others():
    drawn = Drawn.of(SeriesNull.of("autoregressive"), candidates(noise(1), np.ones(60)))
    assert drawn.at(0).shape[1] == 1
    np.testing.assert_array_equal(drawn.at(1), np.ones((199, 1, 60)))


def test_what_is_undefined_stays_so():
    gap = noise(1)
    gap[20] = np.nan
    drawn = Drawn.of(SeriesNull.of("autoregressive"), candidates(gap, noise(2)))
    assert np.isnan(drawn.at(0)[:, 0, 20]).all()
    assert np.isfinite(drawn.at(0)[:, 1]).all()
