"""TOK-02."""

import numpy as np
import pytest
import torch

from ontogeny.catalogue import measuring_part
from ontogeny.testing import check_summary, course_of
from ontogeny.vocabulary import Status, Stimulus

STEPS = (0, *sorted({round(10 ** (k / 12)) for k in range(49)}))
U = np.log(STEPS[1:])
ROWS, LENGTH = 50, 31


def read(curves, **parameters):
    """Readings by component and step; `curves` are nats of each prediction over U."""
    tokens, weights = torch.zeros(ROWS, LENGTH, dtype=torch.long), torch.ones(ROWS, LENGTH)
    weights[:, -1] = 0
    whole = np.concatenate([np.full((len(curves), 1), 9.0), curves], 1)
    losses = [torch.from_numpy(whole[:, at].reshape(ROWS, LENGTH - 1)).float() for at in range(len(STEPS))]
    course = course_of("token_loss", np.zeros(len(STEPS)), STEPS, arrays=losses)
    made = measuring_part("learning_time_spectrum").make
    found = made(course, Stimulus("heldout", tokens, weights), **{"most": 16_384, **parameters})
    return {(one.component, one.step): one.reading for one in found}


def learned_at(times, width, amplitude=4.0):
    z = (U - times[:, None]) / max(width, 1e-9)
    return amplitude * (1 - 1 / (1 + np.exp(-np.clip(z, -500, 500))))


COUNT = ROWS * (LENGTH - 1)
#: ln of times with P(τ > t) = t^−0.4.
POWER = -np.log((np.arange(COUNT) + 0.5) / COUNT) / 0.4


@pytest.mark.parametrize("width", [0.0, 0.3])
def test_power_law_learning_times_give_a_power_law_loss(width):
    curves = learned_at(POWER, width)
    found = read(curves)
    steps = np.array(STEPS[2:])
    rate = np.array([found["spectrum", step].value for step in steps])
    # −dL/du of t^−0.4 is itself t^−0.4; the interval that ends at a step lies around its middle.
    middle = (U[1:] + U[:-1]) / 2
    kept = (steps > 5) & (steps < 3000)
    assert np.polyfit(middle[kept], np.log(rate[kept]), 1)[0] == pytest.approx(-0.40, abs=0.02)
    loss = np.log(curves.mean(0))
    inside = (U > 2) & (U < 8)
    assert np.polyfit(U[inside], loss[inside], 1)[0] == pytest.approx(-0.40, abs=0.02)
    assert found["", None].value > 0.95


def test_the_spectrum_is_the_falling_of_the_loss():
    rng = np.random.default_rng(0)
    curves = learned_at(rng.uniform(1, 8, COUNT), 0.25, amplitude=rng.uniform(1, 6, (COUNT, 1)))
    found = read(curves)
    assert found["", None].value > 0.999
    assert found["unweighed", None].value > 0.99
    slope = -np.diff(curves.mean(0)) / np.diff(U)
    assert found["measured", STEPS[5]].value == pytest.approx(slope[3], rel=1e-4)
    assert found["share_learned", None].value == pytest.approx(1, abs=0.05)
    assert found["width", None].value == pytest.approx(0.25, abs=0.01)
    assert found["spread", None].value == pytest.approx(7 / np.sqrt(12), abs=0.1)


def test_all_at_once_has_no_spread_however_good_the_fit():
    found = read(learned_at(np.full(COUNT, 4.0), 0.5))
    assert found["", None].value > 0.999
    assert found["spread", None].value == pytest.approx(0, abs=1e-2)
    assert found["width", None].value == pytest.approx(0.5, abs=1e-2)


def test_a_longer_clock_shifts_times_and_leaves_spread_and_fit():
    rng = np.random.default_rng(1)
    early, late = (read(learned_at(rng.uniform(2, 5, COUNT) + shift, 0.3)) for shift in (0, 2))
    assert late["spread", None].value == pytest.approx(early["spread", None].value, abs=0.05)


def test_what_is_not_made_of_sigmoids_is_not_explained():
    wave = 5 + 0.6 * np.sin(4 * U)
    found = read(np.tile(wave, (COUNT, 1)))
    assert found["", None].value < 0.5


def test_poor_series_say_why():
    flat = read(np.full((COUNT, len(U)), 3.0))
    assert flat["", None].status is Status.CONSTANT_INPUT
    assert flat["share_learned", None].value == 0
    assert flat["spread", None].status is Status.NO_TARGET
    broken = learned_at(POWER, 0.3)
    broken[:, 10:] = np.nan
    assert read(broken)["", None].status is not Status.FAILED
    assert read(np.full((COUNT, len(U)), np.nan))["", None].status is Status.N_TOO_SMALL
    assert read(learned_at(POWER, 0.3), most=100)["share_learned", None].n == 100
    check_summary(measuring_part("learning_time_spectrum"))
