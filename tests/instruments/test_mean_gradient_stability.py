"""TEL-06, over its window."""

import math

import numpy as np
import pandas as pd
import pytest

from ontogeny.catalogue import part
from ontogeny.instruments import mean_gradient_stability
from ontogeny.testing import check_declaration, check_summary
from ontogeny.vocabulary import Status


def over(values, steps, **parameters):
    frame = pd.DataFrame({"step": list(steps), "gradient_stability": list(values)})
    found = list(mean_gradient_stability(frame, **parameters))
    return [{one.step: one.reading for one in found if one.component == name} for name in ("", "sd")]


def test_the_same_gradient_always_agrees():
    mean, deviation = over(np.ones(120), range(1, 121))
    assert {step: float(reading.value) for step, reading in mean.items()} == {50: 1, 100: 1, 120: 1}
    assert all(float(reading.value) == 0 for reading in deviation.values())


def test_an_agreement_that_alternates():
    mean, deviation = over([0.2 * (-1) ** t for t in range(50)], range(1, 51))
    assert float(mean[50].value) == pytest.approx(0, abs=1e-15)
    assert float(deviation[50].value) == pytest.approx(0.2 * math.sqrt(50 / 49))


def test_it_is_over_steps_and_not_over_records():
    values = np.arange(20) / 20
    mean, _ = over(values, range(10, 210, 10))
    assert {step: reading.n for step, reading in mean.items()} == {50: 5, 100: 5, 150: 5, 200: 5}
    assert float(mean[200].value) == pytest.approx(values[-5:].mean())


def test_one_record_has_no_deviation():
    mean, deviation = over([math.nan, 0.5], [10, 20])
    assert float(mean[20].value) == 0.5
    assert deviation[20].status == Status.N_TOO_SMALL
    assert over([math.nan], [10]) == [{}, {}]


def test_it_keeps_the_contract():
    check_declaration(part("summary", "mean_gradient_stability"))
    check_summary(part("summary", "mean_gradient_stability"))
