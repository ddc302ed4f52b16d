"""TEL-05: for how long a loss has not improved."""

import numpy as np
import pandas as pd
import pytest

from ontogeny.catalogue import part
from ontogeny.instruments import loss_stagnation
from ontogeny.testing import check_declaration, check_summary
from ontogeny.vocabulary import Status


def stood(values, component: str = "", **parameters) -> dict[int, float]:
    frame = pd.DataFrame({"step": np.arange(1, len(values) + 1), "loss": values})
    return {
        one.step: float(one.reading.value)
        for one in loss_stagnation(frame, **parameters)
        if one.component == component
    }


def test_a_constant_loss_has_stood_since_the_first_step():
    values = np.full(400, 2.5)
    assert stood(values) == {100: 99, 200: 199, 300: 299, 400: 399}
    assert stood(values, "fraction")[400] == 1


def test_a_falling_loss_does_not_stand():
    values = 5 * np.exp(-0.004 * np.arange(400))
    assert stood(values)[400] == 0
    assert stood(values, "fraction")[400] == 0


def test_it_stands_from_where_it_stops_falling():
    values = np.concatenate([np.linspace(5, 2, 300), np.full(700, 2.0)])
    standing = stood(values, half_life=1.0)[1000]
    assert 690 <= standing <= 700
    assert stood(values, "fraction", half_life=1.0)[1000] == 1
    assert stood(values)[1000] < standing, "the average falls on after the loss has stopped"


def test_a_shift_of_the_loss_changes_no_length():
    values = 3 + np.random.default_rng(0).normal(size=500).cumsum() / 50
    assert stood(values + 40) == stood(values)


def test_a_fraction_needs_a_whole_window_of_improvements():
    frame = pd.DataFrame({"step": np.arange(1, 151), "loss": 1.0})
    found = [one for one in loss_stagnation(frame) if one.component == "fraction"]
    assert [one.reading.status for one in found] == [Status.TOO_SHORT] * 2
    assert found[-1].reading.n == 50


def test_four_hundred_steps_of_a_real_run_without_improvement(shared_data):
    """GPT-2 124M in llm.c: the loss still fell at the end, but by less than its noise."""
    lines = (shared_data / "nanogpt-logs/llmc_gpt2_124M/main.log").read_text().splitlines()
    losses = [float(line.split("trl:")[1].split()[0]) for line in lines if " trl:" in line]
    assert len(losses) == 19560
    found = stood(np.array(losses))
    assert max(list(found.values())[:10]) < 10, "it falls fast at first"
    assert list(found.values())[-1] == pytest.approx(459)
    assert 1800 < max(found.values()) < 1900


def test_it_keeps_the_contract():
    check_declaration(part("summary", "loss_stagnation"))
    check_summary(part("summary", "loss_stagnation"))
