import numpy as np
import pytest

from ontogeny.statistics.examined import Examined, examined, judged, null_maxima, too_small
from ontogeny.vocabulary import Located, Verdict

STEPS = np.arange(10)


def test_what_is_left_out_is_said():
    values = np.arange(10.0)
    values[3] = np.nan
    found = examined(STEPS, values, np.zeros((2, 1, 10)))
    assert isinstance(found, Examined)
    assert found.note == "1 checkpoints left out: not finite"
    assert found.null.shape == (2, 1, 9)


@pytest.mark.parametrize("values", [np.full(10, 3.0), 1e8 + 1e-5 * np.arange(10)])
def test_a_constant_is_no_change(values):
    found = examined(STEPS, values, None)
    assert isinstance(found, Located)
    assert (found.verdict, found.size) == (Verdict.NONE, 0.0)
    assert found.reason.startswith("no change")


def test_the_null_is_largest_over_places_and_bridges_gaps():
    null = np.zeros((3, 2, 4))
    null[0, 1] = 5
    null[1, 0] = [1, np.nan, 3, 4]
    null[2] = np.nan
    found = null_maxima(null, lambda series: series[:, 1])
    assert found[:2].tolist() == [5, 2]
    assert np.isnan(found[2])


def claims(strengths, least=0.0):
    series = examined(STEPS, np.arange(10.0), np.linspace(0, 1, 99)[:, None, None] * np.ones((1, 1, 10)))
    described = [Located(Verdict.TRANSITION, step=float(at), size=0.5) for at in range(len(strengths))]
    return judged(described, strengths, series, lambda several: several[:, 0], alpha=0.02, least=least)


def test_each_change_is_held_against_the_same_null_and_the_rest_is_dropped():
    found = claims([2.0, 0.5, 3.0])
    assert [one.step for one in found] == [0, 2]
    assert [one.p for one in found] == [0.01, 0.01]
    one = claims([0.5, 0.9])
    assert (one.verdict, one.step) == (Verdict.NONE, 1)
    assert one.reason.startswith("the null reaches it with p = 0.1")


def test_too_small_to_tell():
    found = claims([2.0], least=0.6)
    assert found.verdict is Verdict.NONE
    assert found.reason == "too small to tell: 0.5, at least 0.6 is asked for"
    assert (found.p, found.step) == (0.01, 0)
    assert too_small(-0.7, 0.6) == ""


def test_nothing_described():
    assert claims([]).reason == "no change found"
