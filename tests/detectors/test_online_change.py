import math

import numpy as np

from ontogeny.detectors import online_change
from ontogeny.nulls import trend_matched
from ontogeny.vocabulary import Verdict

STEPS = np.arange(120)


def test_a_shift_of_four_sds_is_noticed():
    series = np.random.default_rng(0).normal(size=120) + 4 * (STEPS >= 60)
    found = online_change(STEPS, series, trend_matched(STEPS, series)[:, None])
    assert found.verdict is Verdict.TRANSITION
    assert math.ceil(found.step) == 60


def test_the_last_points_hide_a_change():
    series = np.random.default_rng(2).normal(size=120) + 3 * (STEPS >= 119)
    assert online_change(STEPS, series).reason == "no change found"
