"""Values that stand out from those right before them."""

import numpy as np
import pytest

import ontogeny.statistics.spikes as spikes
from ontogeny.statistics.spikes import deviations


def by_hand(values: np.ndarray, window: int) -> list[float]:
    found = [np.nan] * min(window, len(values))
    for index in range(window, len(values)):
        before = values[index - window : index]
        found.append((values[index] - before.mean()) / before.std())
    return found


@pytest.mark.parametrize("at_once", [8192, 7])
def test_every_value_against_the_window_before_it(monkeypatch, at_once):
    monkeypatch.setattr(spikes, "AT_ONCE", at_once)
    values = np.random.default_rng(0).normal(size=100)
    assert deviations(values, 12) == pytest.approx(by_hand(values, 12), nan_ok=True)


def test_nothing_stands_out_without_a_full_window_or_from_a_constant_one():
    assert np.isnan(deviations(np.arange(5.0), 5)).all()
    assert np.isnan(deviations(np.array([1.0] * 8 + [100.0]), 4)).all()
    assert deviations(np.array([0.0, 2.0, 0.0, 2.0, 6.0]), 4)[-1] == pytest.approx(5)
