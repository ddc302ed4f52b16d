import numpy as np
import pytest

from ontogeny.detectors import emergence_time
from ontogeny.nulls import trend_matched
from ontogeny.vocabulary import Verdict

STEPS = np.arange(1, 61)


def score(seed=0, noise=0.02):
    rise = 0.25 + 0.5 / (1 + np.exp(-(STEPS - 30.0)))
    return rise + noise * np.random.default_rng(seed).normal(size=60)


def test_halfway_between_chance_and_the_best():
    found = emergence_time(STEPS, score(noise=0.0), chance=0.25)
    assert found.step == pytest.approx(30, abs=0.05)


def test_it_is_claimed_against_its_surrogates():
    series = score()
    found = emergence_time(STEPS, series, trend_matched(STEPS, series)[:, None])
    assert found.verdict is Verdict.TRANSITION
    assert found.low <= 30.5
    assert found.high >= 29.5


@pytest.mark.parametrize("delay", [2, 10])
def test_a_delayed_copy_leads_by_its_delay(delay):
    """FOR-05: the lead in log10 step is constant, so a forecast from it errs by nothing."""
    leads = []
    for seed in range(5):
        early, late = (emergence_time(STEPS * k, score(seed)).step for k in (1, delay))
        leads.append(np.log10(late) - np.log10(early))
    assert leads == pytest.approx([np.log10(delay)] * 5, abs=1e-9)
    assert np.abs(np.array(leads) - np.mean(leads)).mean() == pytest.approx(0, abs=1e-9)


def test_a_moment_above_is_no_emergence():
    series = score()
    series[10] = 0.9
    assert emergence_time(STEPS, series, chance=0.25).step == pytest.approx(30.5, abs=1.5)
