"""TOK-01, ages."""

import numpy as np
import pytest
import torch

from ontogeny.catalogue import measuring_part
from ontogeny.testing import TinyFacts, check_summary, course_of
from ontogeny.vocabulary import Status, Stimulus

STEPS = (0, 1, 2, 4, 8, 16, 32, 64, *range(96, 1001, 32))
X = np.log10(STEPS[1:])
#: Every token is predicted ten times, whatever is before it.
TOKENS = torch.arange(6).repeat(10)[None]
LEARN = measuring_part("age_of_acquisition").make


def sigmoid(start, end, middle, scale):
    return start + (end - start) / (1 + np.exp((middle - X) / scale))


def read(curves, facts=None, **parameters):
    """Readings by component and token; `curves` are bits of each token over X."""
    tokens = torch.cat([TOKENS, TOKENS[:, :1]], 1)
    weights = torch.ones(tokens.shape)
    weights[:, -1] = 0
    bits = torch.full((len(curves), len(STEPS)), 20.0)
    bits[:, 1:] = torch.from_numpy(np.stack(curves))
    losses = [bits[tokens[:, 1:], at] * np.log(2) for at in range(len(STEPS))]
    course = course_of("token_loss", torch.zeros(len(STEPS)), STEPS, arrays=losses)
    stimulus = Stimulus("heldout", tokens, weights)
    found = LEARN(course, stimulus, facts or TinyFacts(), **{"least": 8, "most": 2000, **parameters})
    return {(one.component, one.place.get("token")): one.reading for one in found}


def test_a_sigmoid_is_acquired_where_it_crosses_the_middle():
    chance = np.log2(TinyFacts.vocabulary)
    ends, middles = np.linspace(0, 4, 6), np.linspace(0.8, 2.2, 6)
    curves = [sigmoid(chance, end, middle, 0.15) for end, middle in zip(ends, middles, strict=True)]
    found = read(curves)
    for token, curve in enumerate(curves):
        share = ((chance + curve.min()) / 2 - chance) / (ends[token] - chance)
        wanted = middles[token] - 0.15 * np.log(1 / share - 1)
        assert float(found["", token].value) == pytest.approx(wanted, abs=1e-3)
    assert found["share_unlearned", None].value == found["share_at_start", None].value == 0
    assert found["share_sigmoid", None].value == 1
    assert found["", 0].n == 10
    ages = [float(found["", token].value) for token in range(6)]
    assert found["median", None].value == pytest.approx(np.median(ages))


def test_steps_are_logarithms_and_a_later_course_is_later():
    early, late = (read([sigmoid(5.3, 1, middle, 0.1)] * 6)["", 0].value for middle in (1.0, 2.0))
    assert late - early == pytest.approx(1, abs=0.01)


def test_a_curve_at_chance_is_never_learned_and_one_below_it_always_was():
    chance, low = np.full(len(X), np.log2(40)), np.linspace(1.0, 0.9, len(X))
    found = read([chance, low, *[sigmoid(5.3, 1, 1.5, 0.1)] * 4])
    assert found["unlearned", 0].value == X[-1]
    assert found["at_start", 1].value == 0
    assert ("", 0) not in found
    assert ("", 1) not in found
    assert found["share_unlearned", None].value == pytest.approx(1 / 6)
    assert found["share_at_start", None].value == pytest.approx(1 / 6)


def test_chance_is_the_logarithm_of_the_vocabulary():
    class Large(TinyFacts):
        vocabulary = 50257

    found = read([sigmoid(15.617, 0, 1.5, 0.05)] * 6, Large())
    assert float(found["", 0].value) == pytest.approx(1.5, abs=2e-3)


def test_what_no_sigmoid_fits_is_read_off_a_spline():
    bump = np.interp(X, [0, 1, 1.5, 2, 2.5, 3], [5.3, 4.9, 1.0, 5.0, 1.0, 5.3])
    found = read([bump, *[sigmoid(5.3, 1, 1.5, 0.1)] * 5])
    assert 1.0 < float(found["", 0].value) < 1.5  # the first of its crossings
    assert found["share_sigmoid", None].value == pytest.approx(5 / 6)


def test_age_is_set_against_frequency():
    counts = TinyFacts().statistics().counts[:6].astype(float)
    middles = 2.4 - 1.5 * np.argsort(np.argsort(counts)) / 5
    found = read([sigmoid(5.3, 1, middle, 0.1) for middle in middles])
    assert found["with_frequency", None].value == pytest.approx(-1)

    class Unknown(TinyFacts):
        def statistics(self):
            return None

    unknown = read([sigmoid(5.3, 1, 1.5, 0.1)] * 6, Unknown())["with_frequency", None]
    assert unknown.status is Status.NOT_OBSERVABLE


def test_broken_curves_and_poor_series_say_why():
    broken = np.where(X > 2, np.nan, 3.0)
    found = read([broken, *[sigmoid(5.3, 1, 1.5, 0.1)] * 5])
    assert not any(token == 0 for _, token in found)
    assert found["median", None].n == 5
    rare = read([sigmoid(5.3, 1, 1.5, 0.1)] * 6, least=11)
    assert rare["", None].status is Status.N_TOO_SMALL
    assert read([np.full(len(X), np.nan)] * 6)["", None].status is Status.N_TOO_SMALL


def test_it_keeps_the_contract():
    check_summary(measuring_part("age_of_acquisition"))
