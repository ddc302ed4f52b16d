"""A detector by name over single series: claims, refusals, degenerate input, and sizes not worth telling."""

import numpy as np
import pytest

from ontogeny.catalogue import parts
from ontogeny.detect import locate
from ontogeny.detect.candidates import Candidates
from ontogeny.detect.looking import Detector
from ontogeny.detect.nulls import Drawn
from ontogeny.errors import BadContract, UnknownName
from ontogeny.vocabulary import Place

STEPS = np.arange(1, 61) * 100


def noise(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 1, len(STEPS))


def jump(size: float, seed: int = 0) -> np.ndarray:
    return noise(seed) + size * (STEPS > 3000)


def test_a_jump_is_claimed_against_the_detectors_own_null():
    (found,) = locate(STEPS, jump(12), null="default")
    assert found.verdict == "transition"
    assert found.low <= 3050 <= found.high
    assert found.p == pytest.approx(1 / 200)


def test_without_a_null_it_is_described_and_not_claimed():
    (found,) = locate(STEPS, jump(12))
    assert (found.verdict, found.p) == ("none", None)
    assert found.size == pytest.approx(12, abs=1)


def test_a_null_may_be_ones_own_draws():
    draws = np.random.default_rng(5).normal(0, 1, (199, 60))
    (found,) = locate(STEPS, jump(12), null=draws)
    assert (found.verdict, found.p) == ("transition", pytest.approx(1 / 200))
    draws[:99] += 15 * (STEPS > 3000)
    (found,) = locate(STEPS, jump(12), null=draws)
    assert found.p == pytest.approx(0.5)


def test_parameters_reach_the_detector():
    with pytest.raises(UnknownName, match="noise_multiple"):
        locate(STEPS, jump(12), detector="half_rise(noise_multipl=2)")
    (found,) = locate(STEPS, jump(12), detector="half_rise(noise_multiple=50)", null="default")
    assert found.verdict == "none"


def test_what_is_too_small_to_tell_is_no_claim_and_keeps_its_numbers():
    told, untold = (locate(STEPS, jump(12), null="default", least=least)[0] for least in (5, 50))
    assert told.verdict == "transition"
    assert untold.verdict == "none"
    assert untold.reason.startswith("too small to tell: 12")
    assert (untold.step, untold.size, untold.p) == (told.step, told.size, told.p)


@pytest.mark.parametrize("detector", sorted(parts("detector")))
@pytest.mark.parametrize(
    "values",
    [
        np.ones(60),
        np.full(60, np.nan),
        np.where(np.arange(60) % 7 == 3, np.nan, noise(3)),
        np.round(noise(4)),
        np.zeros(3),
        np.ones(0),
    ],
    ids=["constant", "NaN", "NaN inside", "ties", "three", "none"],
)
def test_degenerate_series_get_a_reason_and_no_claim(detector, values):
    for found in locate(STEPS[: len(values)], values, detector=detector, null="default"):
        assert found.verdict != "transition"
        assert found.reason


@pytest.mark.parametrize("detector", sorted(parts("detector")))
def test_uneven_steps_are_fine(detector):
    steps = np.unique(np.geomspace(1, 10_000, 60).astype(int))
    assert locate(steps, noise()[: len(steps)], detector=detector, null="default")


EVERY = ("half_rise", "pelt", "jump", "jump(least=1)", "peak", "sigmoid", "threshold")


@pytest.mark.parametrize("detector", EVERY)
def test_places_of_any_scale_are_held_against_all_in_their_own_noise(detector):
    """What is shared between places changes nothing of what each of them is told."""
    values = np.stack([noise(1), 1000 + 50 * jump(12, 2), 1e-4 * noise(3), np.ones(60)])
    values[2, 7] = np.nan
    places = tuple(Place(layer=n) for n in range(4))
    candidates = Candidates("norm", "norm", "", STEPS, places, values)
    chosen = Detector.of(detector, "default")
    together = [(transition.place["layer"], transition.located) for transition, _ in chosen.over(candidates)]
    drawn = Drawn.of(chosen.null, candidates)
    apart = [
        (layer, located)
        for layer in range(4)
        for located in chosen.at(STEPS, values[layer], drawn.at(layer), 0.0, surrogate=True)
    ]
    assert [layer for layer, _ in together] == [layer for layer, _ in apart]
    for (_, one), (_, other) in zip(together, apart, strict=True):
        assert (one.verdict, one.kind) == (other.verdict, other.kind)
        for mine, theirs in zip((one.p, one.step, one.size), (other.p, other.step, other.size), strict=True):
            assert mine == (None if theirs is None else pytest.approx(theirs, rel=1e-6))
    if detector != "peak":
        assert [layer for layer, one in together if one.verdict == "transition"] == [1]


def test_shapes_that_disagree_are_refused():
    with pytest.raises(BadContract):
        locate(STEPS, noise()[:-1], null="default")
