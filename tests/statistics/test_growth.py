"""TRA-01: a logarithm or a power of the step."""

import numpy as np
import pytest

from ontogeny.statistics.growth import Growth, growth_law
from ontogeny.vocabulary import Reading

STEPS = np.array([0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512])


def test_an_exact_logarithm_gives_its_own_terms():
    found = growth_law(STEPS, 2 + 0.7 * np.log(np.maximum(STEPS, 1)))
    assert isinstance(found, Growth)
    assert (found.offset, found.rate) == pytest.approx((2, 0.7))
    assert found.better == "log"


@pytest.mark.parametrize("power", [-0.5, 0.5, 1.0, 2.0])
def test_an_exact_power_gives_its_own_terms(power):
    found = growth_law(STEPS[1:], 3 * STEPS[1:] ** power)
    assert (found.scale, found.power.value) == pytest.approx((3, power), rel=1e-3)
    assert found.power.low < power < found.power.high
    assert found.better == "power"


def test_a_random_walk_grows_as_the_root():
    steps = np.random.default_rng(0).normal(size=(600, 3000))
    found = growth_law(np.arange(601), np.linalg.norm(np.vstack([steps[:1] * 0, steps.cumsum(0)]), axis=1))
    assert found.power.value == pytest.approx(0.5, abs=0.02)
    assert found.better == "power"
    assert found.power.n == 600


def test_the_interval_covers_the_power_under_independent_noise():
    rng = np.random.default_rng(1)
    steps = np.arange(1, 41)
    covered = 0
    for _ in range(200):
        found = growth_law(steps, 2 * steps**0.4 + rng.normal(0, 0.1, 40))
        covered += found.power.low <= 0.4 <= found.power.high
    assert 180 <= covered <= 199


def test_half_a_decade_decides_nothing():
    rng = np.random.default_rng(2)
    steps = np.arange(100, 300, 20)
    assert growth_law(steps, steps**0.3 + rng.normal(0, 0.05, 10)).better == "undecided"


@pytest.mark.parametrize(
    ("steps", "distances", "expected"),
    [
        (STEPS[:5], STEPS[:5], "too-short"),
        (STEPS, np.where(STEPS == 8, np.nan, STEPS), "nonfinite"),
        (STEPS, np.ones(11), "constant-input"),
        (np.full(8, 3), np.arange(8), "constant-input"),
    ],
)
def test_what_follows_no_law_says_why(steps, distances, expected):
    found = growth_law(steps, distances)
    assert isinstance(found, Reading)
    assert found.status == expected


def test_a_power_out_of_reach_is_unconverged():
    assert growth_law(STEPS[1:], STEPS[1:] ** 6.0).power.status == "unconverged"
