import math

import numpy as np

from ontogeny.detectors import binary_segmentation, pelt
from ontogeny.nulls import trend_matched
from ontogeny.vocabulary import Verdict

STEPS = np.arange(120)


def test_a_shift_of_four_sds_is_found_where_pelt_finds_it():
    series = np.random.default_rng(0).normal(size=120) + 4 * (STEPS >= 60)
    null = trend_matched(STEPS, series)[:, None]
    found = binary_segmentation(STEPS, series, null)
    assert found.verdict is Verdict.TRANSITION
    assert math.ceil(found.step) == 60
    assert found == pelt(STEPS, series, null)


def test_a_level_left_and_come_back_to_hides_from_the_first_split():
    """What it misleads by: pelt prices both changes together, and this one looks for a single one first."""
    series = 3.0 * ((STEPS >= 55) & (STEPS < 65)) + np.random.default_rng(1).normal(size=120)
    greedy = binary_segmentation(STEPS, series, penalty=9.0, memory=False)
    assert greedy.reason == "no change found"
    assert len([one for one in [pelt(STEPS, series, penalty=4.0, memory=False)] if one.step]) == 1
