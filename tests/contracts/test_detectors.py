"""What holds for every detector, run as `ontogeny detect` runs it on a series without a null of its own."""

import numpy as np
import pytest

from ontogeny.catalogue import part, parts
from ontogeny.errors import BadContract
from ontogeny.testing import poor_series
from ontogeny.testing.detector_contract import STEPS, series_with
from ontogeny.vocabulary import Verdict, each_located

DETECTORS = [pytest.param(made, id=name) for name, made in parts("detector").items()]


def held(made, steps, values):
    null = part("null", made.null).make(steps, values)[:, None]
    return each_located(made.make(steps, values, null, **made.options["surrogate"]))


@pytest.mark.parametrize("made", DETECTORS)
def test_poor_series_are_answered_with_a_reason_whatever_the_null(made):
    for name, poor in poor_series().items():
        for one in held(made, STEPS[: poor.size], poor):
            assert one.verdict is not Verdict.TRANSITION, name
            assert one.reason, name
            for number in (one.step, one.low, one.high, one.size, one.p):
                assert number is None or np.isfinite(number), name


@pytest.mark.parametrize("made", DETECTORS)
def test_units_and_offsets_do_not_matter(made):
    for kind in made.options["finds"]:
        noise = 0.1 * np.random.default_rng(3).normal(size=STEPS.size)
        plain = held(made, STEPS, series_with(kind) + noise)
        other = held(made, STEPS, 2.0**40 * (series_with(kind) + noise))
        assert [one.verdict for one in other] == [one.verdict for one in plain]
        for one, two in zip(plain, other, strict=True):
            assert two.step == pytest.approx(one.step, rel=1e-6)
            assert two.size == pytest.approx(2.0**40 * one.size, rel=1e-6)


@pytest.mark.parametrize("made", DETECTORS)
def test_ties_and_coarse_values_are_fine(made):
    values = np.round(
        3 * series_with(made.options["finds"][0]) + np.random.default_rng(4).normal(size=STEPS.size)
    )
    assert held(made, STEPS, values)
    mostly = np.zeros(STEPS.size)
    mostly[[5, 20]] = 1.0
    assert all(one.verdict is not Verdict.TRANSITION for one in held(made, STEPS, mostly))


@pytest.mark.parametrize("made", DETECTORS)
def test_what_is_no_series_is_refused(made):
    good, null = np.zeros(STEPS.size), np.zeros((99, 2, STEPS.size))
    wrong = [
        (STEPS, good[1:], None),
        (STEPS[None], good[None], None),
        (STEPS[::-1], good, None),
        (STEPS - 1, good, None),
        (STEPS, good, null[0]),
        (STEPS, good, null[..., 1:]),
    ]
    for given in wrong:
        with pytest.raises(BadContract):
            made.make(*given)
    for name, value in (("level", 1.0), ("alpha", 0.0), ("least", -1.0)):
        with pytest.raises(BadContract, match="out of range"):
            made.make(STEPS, good, None, **{name: value})


@pytest.mark.parametrize("made", DETECTORS)
def test_too_few_draws_are_refused_with_the_number_needed(made):
    kind = made.options["finds"][0]
    found = each_located(made.make(STEPS, series_with(kind), np.zeros((20, 1, STEPS.size))))
    assert all(one.verdict is Verdict.NONE for one in found)
    assert any("are needed" in one.reason for one in found)


def test_long_series_are_looked_at_or_refused_with_a_remedy():
    points = 3000
    series = np.random.default_rng(5).normal(size=points)
    series[1500:] += 10
    for name, made in parts("detector").items():
        for one in each_located(made.make(np.arange(points), series, None)):
            looked = name in ("jump", "half_rise")
            assert (one.step is not None) if looked else ("thin the series" in one.reason), name
