import numpy as np
import pytest

from ontogeny.statistics.change_time import change_gaps, located_change, time_interval

STEPS = np.arange(100, 140)


def test_without_noise_the_change_is_in_its_gap():
    gaps = change_gaps((STEPS >= 120) * 1.0, 0.0)
    assert gaps[20] == pytest.approx(1)
    low, high = time_interval(STEPS, gaps, 0.95)
    assert 119 < low < 119.1
    assert 119.9 < high < 120


def test_weight_in_two_gaps_that_do_not_touch():
    gaps = np.zeros(40)
    gaps[[5, 30]] = 0.5
    low, high = time_interval(STEPS, gaps, 0.9)
    assert (low, high) == pytest.approx((104.1, 129.9), abs=0.01)


@pytest.mark.parametrize("size", [1.5, 3.0])
def test_the_interval_covers_as_often_as_it_says(size):
    rng = np.random.default_rng([0, int(10 * size)])
    inside = 0
    for _ in range(400):
        at = int(rng.integers(10, 30))
        truth = STEPS[at - 1] + rng.uniform()
        values = rng.normal(size=40) + size * (truth < STEPS)
        low, high = time_interval(STEPS, change_gaps(values, 0.0), 0.95)
        inside += low <= truth <= high
    assert 0.92 <= inside / 400 <= 0.98


def test_the_step_is_the_middle_of_the_gap_and_within():
    step, low, high = located_change(STEPS, (STEPS >= 120) * 1.0, 20, (0, 40), 0.0, 0.95)
    assert step == pytest.approx(np.sqrt(119 * 120))
    assert low < step < high
