"""TEL-07: how far the validation loss stands above its best."""

import json
import math

import numpy as np
import pandas as pd
import pytest

from ontogeny.catalogue import part
from ontogeny.instruments import backslide
from ontogeny.testing import check_declaration, check_summary


def slid(values, steps=None):
    steps = range(len(values)) if steps is None else steps
    found = list(backslide(pd.DataFrame({"step": list(steps), "heldout_loss": list(values)})))
    course = [float(one.reading.value) for one in found if not one.component]
    return course, {one.component: float(one.reading.value) for one in found if one.component}


def test_a_monotone_series_never_slides_back():
    course, whole = slid(np.linspace(5, 1, 20))
    assert course == [0] * 20
    assert whole == {"max": 0, "ascent": 0}


def test_one_bump_is_its_height():
    course, whole = slid([5.0, 4.0, 3.0, 3.75, 2.5, 2.0])
    assert course == [0, 0, 0, 0.75, 0, 0]
    assert whole == {"max": 0.75, "ascent": 0.75}


def test_a_constant_added_changes_nothing():
    values = np.random.default_rng(0).normal(size=50).round(3)
    plain, moved = slid(values), slid(values + 8)
    assert moved[0] == pytest.approx(plain[0], abs=1e-12)
    assert moved[1] == pytest.approx(plain[1], abs=1e-12)


def test_evaluations_that_are_no_number_are_left_out():
    course, whole = slid([3.0, math.nan, 2.0, math.inf, 2.5])
    assert course == [0, 0, 0.5]
    assert whole == {"max": 0.5, "ascent": 0.5}
    assert slid([math.nan]) == ([], {})


@pytest.mark.parametrize(
    ("evaluated", "final", "most", "at", "ascent"),
    [(0, 1.634922, 1.825677, 7619, 3.355768), (1, 2.485199, 2.639650, 9624, 5.646965)],
)
def test_a_real_run_that_learns_its_training_set_by_heart(shared_data, evaluated, final, most, at, ascent):
    """Its six evaluation losses are best at the first few evaluations and climb ever after."""
    path = shared_data / "hf-trainer-state/grouped-eval/trainer_state.json"
    metric = f"eval_g{evaluated}_loss"
    entries = [e for e in json.loads(path.read_text())["log_history"] if metric in e]
    steps, values = [e["step"] for e in entries], [e[metric] for e in entries]
    course, whole = slid(values, steps)
    assert len(course) == 31
    assert course == pytest.approx((pd.Series(values) - pd.Series(values).cummin()).tolist())
    assert course[-1] == pytest.approx(final, abs=1e-6)
    assert whole == pytest.approx({"max": most, "ascent": ascent}, abs=1e-6)
    assert steps[int(np.argmax(course))] == at


def test_it_keeps_the_contract():
    check_declaration(part("summary", "backslide"))
    check_summary(part("summary", "backslide"))
