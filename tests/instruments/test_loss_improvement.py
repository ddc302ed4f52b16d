"""TEL-05: which share of its loss a model has lost."""

import math

import numpy as np
import pandas as pd
import pytest

from ontogeny.catalogue import part
from ontogeny.instruments import loss_improvement
from ontogeny.testing import check_declaration, check_summary
from ontogeny.vocabulary import Status


def improved(values, steps=None, **parameters):
    steps = np.arange(1, len(values) + 1) if steps is None else steps
    return list(loss_improvement(pd.DataFrame({"step": steps, "loss": values}), **parameters))


def numbers(found) -> dict[int, float]:
    return {one.step: float(one.reading.value) for one in found}


def test_a_constant_loss_improves_by_nothing():
    found = numbers(improved(np.full(350, 2.5)))
    assert found == pytest.approx({100: math.nan, 200: 0, 300: 0, 350: 0}, nan_ok=True, abs=1e-15)


def test_an_exponential_improves_by_its_rate_once_the_average_has_forgotten():
    found = numbers(improved(5 * np.exp(-0.004 * np.arange(2000))))
    assert found[2000] == pytest.approx(1 - math.exp(-0.4), rel=1e-4)


def test_a_rising_loss_improves_by_less_than_nothing():
    assert numbers(improved(np.linspace(2, 3, 300)))[300] < -0.1


def test_neither_scale_nor_sparse_records_matter_much():
    values = 3 + np.exp(-np.arange(1000) / 300)
    whole = numbers(improved(values))
    assert numbers(improved(2 * values)) == pytest.approx(whole, nan_ok=True, rel=1e-12)
    sparse = numbers(improved(values[::10], np.arange(1, 1001, 10)))
    assert list(sparse.values())[-1] == pytest.approx(whole[1000], rel=0.05)


def test_what_has_no_improvement_says_why():
    short = improved([2.0] * 60)
    assert [one.reading.status for one in short] == [Status.TOO_SHORT]
    below = improved(np.linspace(1, -3, 300))
    assert below[-1].reading.status == Status.NO_TARGET
    assert improved([math.nan] * 300) == []


def test_it_keeps_the_contract():
    check_declaration(part("summary", "loss_improvement"))
    check_summary(part("summary", "loss_improvement"))
