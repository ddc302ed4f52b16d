"""What holds for every surrogate of a single series."""

import numpy as np
import pytest

from ontogeny.catalogue import null, parts
from ontogeny.errors import BadContract, UnknownName

STEPS = np.array([0, 1, 2, 4, 8, 16, 32, 64, *range(100, 2001, 100)])
NULLS = [
    pytest.param(made, id=name) for name, made in parts("null").items() if made.options["of"] == "series"
]


def noise(seed=0):
    return np.random.default_rng(seed).normal(size=STEPS.size)


@pytest.mark.parametrize("made", NULLS)
def test_draws_are_the_datas_own(made):
    values = noise()
    kept = values.copy()
    first = made.make(STEPS, values)
    assert first.shape == (199, STEPS.size)
    np.testing.assert_array_equal(values, kept)
    np.testing.assert_array_equal(first, made.make(STEPS.copy(), values.copy()))
    assert not np.array_equal(first, made.make(STEPS, values, seed=1))
    assert not np.array_equal(first[0], first[1])
    assert made.make(STEPS, values, draws=5).shape == (5, STEPS.size)


@pytest.mark.parametrize("made", NULLS)
def test_what_is_missing_is_missing_in_every_draw(made):
    values = noise()
    values[[3, 10]] = np.nan, np.inf
    draws = made.make(STEPS, values)
    assert (~np.isfinite(draws)).any(axis=0).nonzero()[0].tolist() == [3, 10]
    assert np.isnan(draws[:, 3]).all()


@pytest.mark.parametrize("made", NULLS)
@pytest.mark.parametrize(
    "values", [np.ones(28), np.full(28, np.nan), np.r_[np.arange(7.0), np.full(21, np.nan)]]
)
def test_of_a_constant_or_short_series_every_draw_is_the_series(made, values):
    np.testing.assert_array_equal(made.make(STEPS, values, draws=3), np.repeat(values[None], 3, axis=0))


@pytest.mark.parametrize("made", NULLS)
def test_ties_are_fine(made):
    values = np.round(noise())
    assert np.isfinite(made.make(STEPS, values)).all()


@pytest.mark.parametrize("made", NULLS)
def test_what_is_no_series_is_refused(made):
    with pytest.raises(BadContract, match="draws ≥ 1"):
        made.make(STEPS, noise()[1:])
    with pytest.raises(BadContract, match="draws ≥ 1"):
        made.make(STEPS, noise(), draws=0)


def test_a_null_says_what_it_is_of_and_keeps_to_it():
    with pytest.raises(UnknownName, match="series"):
        null(source="here", of="serie")

    def surrogate(values):
        """Something."""

    with pytest.raises(BadContract, match="steps, values"):
        null(source="here", of="series")(surrogate)
