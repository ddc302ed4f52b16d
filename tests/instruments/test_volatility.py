"""TEL-07: how unsteadily the validation loss moves."""

import math
import re

import numpy as np
import pandas as pd
import pytest

from ontogeny.catalogue import part
from ontogeny.instruments import volatility
from ontogeny.testing import check_declaration, check_summary
from ontogeny.vocabulary import Status


def moved(values, steps=None, **parameters):
    steps = range(len(values)) if steps is None else steps
    frame = pd.DataFrame({"step": list(steps), "heldout_loss": list(values)})
    return list(volatility(frame, **parameters))


def numbers(found) -> list[float]:
    return [float(one.reading.value) for one in found]


def test_a_linear_trend_is_steady():
    found = moved(np.arange(30) * -0.25)
    assert numbers(found) == pytest.approx([0] * 10, abs=1e-12)
    assert [found[0].step, found[-1].step] == [20, 29]


def test_an_alternating_series_moves_by_twice_its_height():
    found = numbers(moved([1 + 0.5 * (-1) ** t for t in range(21)]))
    assert found == pytest.approx([math.sqrt(20 / 19)])


def test_neither_a_trend_nor_a_constant_matters():
    values = np.random.default_rng(0).normal(size=40)
    plain = numbers(moved(values))
    assert numbers(moved(values + 3 - 0.5 * np.arange(40))) == pytest.approx(plain, rel=1e-9)
    rolling = pd.Series(values).diff().rolling(20).std().dropna()
    assert plain == pytest.approx(rolling.tolist(), rel=1e-9)


def test_too_few_evaluations_say_how_many_are_needed():
    found = moved([3.0] * 20)
    assert [one.reading.status for one in found] == [Status.TOO_SHORT]
    assert found[0].reading.reason == "21 evaluations are needed, 20 are there"
    assert moved([1.0, 2.0, 3.0], window=1)[0].reading.status == Status.TOO_SHORT


def test_evaluations_that_are_no_number_are_left_out():
    values = [0.0, 1.0, math.nan, 3.0, 7.0]
    assert numbers(moved(values, window=2)) == pytest.approx(np.std([[1, 2], [2, 4]], axis=1, ddof=1))


def test_seventy_five_repeats_of_one_run_are_alike(shared_data):
    """They differ by 0.0003 in their last five differences, whose volatility is the bend of the curve."""
    found, last = [], []
    for path in sorted((shared_data / "nanogpt-logs/seeds75_2024-12-08").glob("*.txt")):
        pairs = re.findall(r"step:(\d+)/\d+ val_loss:(\S+)", path.read_text())
        values = [float(value) for _, value in pairs]
        steps = [int(step) for step, _ in pairs]
        assert moved(values, steps)[0].reading.status == Status.TOO_SHORT, "13 evaluations are no 21"
        found.append(numbers(moved(values, steps, window=5))[-1])
        last.append(values[-1])
    assert len(found) == 75
    assert np.mean(last) == pytest.approx(3.2785, abs=1e-4)
    assert np.mean(found) == pytest.approx(0.01727, abs=1e-5)
    assert np.std(found, ddof=1) == pytest.approx(0.00026, abs=1e-5)


def test_it_keeps_the_contract():
    check_declaration(part("summary", "volatility"))
    check_summary(part("summary", "volatility"))
