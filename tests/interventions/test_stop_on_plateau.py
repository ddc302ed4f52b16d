"""A constant loss stops after patience + 1 steps; a falling one never."""

import math

import pytest

from ontogeny.errors import BadContract
from ontogeny.interventions import stop_on_plateau


def stopped_at(losses, **parameters):
    made = stop_on_plateau(**parameters)
    for number, loss in enumerate(losses, start=1):
        made.on_loss(loss, number - 1)
        if made.stop:
            return number
    return None


def test_a_constant_loss_stops_after_patience_and_one_steps():
    assert stopped_at([3.0] * 100, patience=20) == 21
    assert stopped_at([3.0] * 20, patience=20) is None


def test_a_loss_that_falls_by_more_than_delta_a_step_never_stops():
    falling = [3.0 - 0.01 * step for step in range(300)]
    assert stopped_at(falling, patience=1, half_life=1e-6) is None
    assert stopped_at([3.0 - 0.0001 * step for step in range(300)], patience=5, half_life=1e-6) == 6


def test_the_smoothed_loss_is_the_bias_corrected_average():
    made, decay = stop_on_plateau(half_life=2.0), 0.5**0.5
    losses = [4.0, 2.0, 3.0]
    for step, loss in enumerate(losses):
        made.on_loss(loss, step)
    weights = [decay**2, decay, 1.0]
    smoothed = sum(w * loss for w, loss in zip(weights, losses, strict=True)) / sum(weights)
    assert made.average / (1 - decay**3) == pytest.approx(smoothed)
    assert made.best == pytest.approx((decay * 4 + 2) / (decay + 1)), "3 did not beat it"
    assert smoothed > made.best


def test_what_is_no_number_is_passed_over_and_the_sham_never_asks():
    assert (
        stopped_at([3.0, math.nan, math.inf] * 20, patience=5) == stopped_at([3.0] * 20, patience=5) * 3 - 2
    )
    sham = stop_on_plateau(patience=1).sham()
    for step in range(10):
        sham.on_loss(1.0, step)
    assert sham.waited == 9
    assert not sham.stop


def test_it_goes_on_counting_after_a_checkpoint():
    made, other = stop_on_plateau(patience=4), stop_on_plateau(patience=4)
    for step in range(3):
        made.on_loss(1.0, step)
    other.load_state_dict(made.state_dict())
    for step in (3, 4):
        assert not other.stop
        other.on_loss(1.0, step)
    assert other.stop


def test_senseless_parameters_are_refused():
    with pytest.raises(BadContract, match="patience=0"):
        stop_on_plateau(patience=0)
