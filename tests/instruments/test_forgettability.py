"""TOK-01, forgetting."""

import numpy as np
import pytest
import torch

from ontogeny.catalogue import measuring_part
from ontogeny.testing import check_summary, course_of
from ontogeny.vocabulary import Status, Stimulus

STEPS = (0, *(round(10 ** (k / 20)) for k in range(20, 81)))
X = np.log10(STEPS[1:])
TOKENS = torch.arange(2).repeat(10)[None]


def read(curves, steps=STEPS):
    tokens = torch.cat([TOKENS, TOKENS[:, :1]], 1)
    weights = torch.ones(tokens.shape)
    weights[:, -1] = 0
    bits = torch.full((len(curves), len(steps)), 20.0)
    bits[:, 1:] = torch.from_numpy(np.stack(curves))[:, : len(steps) - 1]
    losses = [bits[tokens[:, 1:], at] * np.log(2) for at in range(len(steps))]
    course = course_of("token_loss", torch.zeros(len(steps)), steps, arrays=losses)
    made = measuring_part("forgettability").make
    found = made(course, Stimulus("heldout", tokens, weights), least=8, most=10)
    return {(one.component, one.place.get("token")): one.reading for one in found}


def test_what_only_falls_forgets_nothing():
    falling = 6 - 4 / (1 + np.exp((2 - X) / 0.3))
    found = read([falling, 9 - X])
    assert found["", 0].value == pytest.approx(0, abs=0.05)
    assert found["", 1].value == pytest.approx(0, abs=1e-6)
    assert found["", 0].n == 10


def test_a_rise_on_the_way_is_what_was_lost():
    bump = np.interp(X, [1, 2, 3, 4], [8, 3, 5, 2])
    found = read([bump, 9 - X])
    assert found["", 0].value == pytest.approx(2, abs=0.25)
    assert found["median", None].value == pytest.approx(found["", 0].value / 2, abs=1e-3)


def test_forgetting_scales_with_the_surprisal_and_not_with_its_level():
    bump = np.interp(X, [1, 2, 3, 4], [8, 3, 5, 2])
    found = read([2 * bump + 3, bump])
    assert found["", 0].value == pytest.approx(2 * found["", 1].value, rel=1e-4)


def test_variability_is_that_of_the_last_eleven_checkpoints():
    rng = np.random.default_rng(0)
    noisy = 5 + np.concatenate([5 * rng.normal(size=len(X) - 11), 0.3 * rng.normal(size=11)])
    found = read([noisy, np.full(len(X), 3.0)])
    assert found["variability", 0].value == pytest.approx(noisy[-11:].std(ddof=1), rel=1e-4)
    assert found["variability", 1].value == pytest.approx(0, abs=1e-5)


def test_poor_series_say_why():
    few = read([9 - X, 9 - X], STEPS[:9])
    assert few["median_variability", None].status is Status.TOO_SHORT
    assert few["median", None].value == pytest.approx(0, abs=1e-5)
    assert read([9 - X, 9 - X], STEPS[:5])["", None].status is Status.N_TOO_SMALL
    check_summary(measuring_part("forgettability"))
