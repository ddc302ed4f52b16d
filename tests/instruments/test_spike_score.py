"""TEL-07: which share of steps shot up."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ontogeny.catalogue import part
from ontogeny.instruments import spike_score
from ontogeny.testing import check_declaration, check_summary
from ontogeny.vocabulary import Status


def scored(loss, norm=None, **parameters):
    frame = pd.DataFrame({"step": range(len(loss)), "loss": loss})
    frame["gradient_norm"] = math.nan if norm is None else norm
    return list(spike_score(frame, **parameters))


def value(found, component: str = "") -> float:
    return float(next(one for one in found if one.component == component).reading.value)


def at(found, component: str) -> list[int]:
    return [one.step for one in found if one.component == component]


def noise(steps: int = 1000) -> np.ndarray:
    return np.random.default_rng(0).uniform(-1, 1, steps)


@pytest.mark.parametrize("series", [np.full(400, 3.0), np.linspace(0, 9, 400), np.linspace(9, 0, 400)])
def test_what_does_not_jump_has_no_spikes(series):
    found = scored(series, series)
    assert [value(found, name) for name in ("", "loss", "gradient_norm")] == [0, 0, 0]


def test_one_bump_is_one_step():
    loss = noise()
    loss[500] = 20
    found = scored(loss)
    assert (value(found), at(found, "loss_spike")) == (1 / 1000, [500])
    before = loss[372:500]
    assert value(found, "loss_spike") == pytest.approx((20 - before.mean()) / before.std())


def test_only_upwards_and_only_after_a_full_window():
    loss = noise()
    loss[[127, 700]] = 20, -20
    assert value(scored(loss)) == 0
    loss[128 + 127] = 20
    assert at(scored(loss), "loss_spike") == [255]


def test_a_step_with_both_counts_once():
    loss, norm = noise(), noise()[::-1].copy()
    loss[[300, 600]], norm[[600, 800]] = 20, 20
    found = scored(loss, norm)
    assert [value(found, name) for name in ("", "loss", "gradient_norm")] == [0.003, 0.002, 0.002]


def test_the_score_of_the_last_steps():
    loss = noise()
    loss[[300, 320, 900]] = 20, 60, 20
    found = {
        one.step: float(one.reading.value) for one in scored(loss, running=400) if one.component == "running"
    }
    assert found == {399: 2 / 400, 799: 0, 999: 1 / 400}
    unreached = next(one for one in scored(loss) if one.component == "running")
    assert unreached.reading.status == Status.TOO_SHORT


def test_scale_and_offset_change_no_spike():
    loss = noise()
    loss[500] = 7
    assert at(scored(1e4 * loss - 3e4), "loss_spike") == at(scored(loss), "loss_spike") == [500]


def test_too_little_says_so_and_what_is_not_finite_is_left_out():
    short = scored(noise(100))
    assert {one.reading.status for one in short} == {Status.TOO_SHORT}
    loss = noise()
    loss[500:] = math.nan
    loss[400] = math.inf
    found = scored(loss)
    assert value(found) == 0
    assert next(one.reading.n for one in found if one.component == "loss") == 499


def read(path) -> pd.DataFrame:
    rows = re.findall(r"^s:(\d+) trl:(\S+) lr:\S+ norm:(\S+)$", path.read_text(), re.MULTILINE)
    return pd.DataFrame(
        [(int(s), float(x), float(n)) for s, x, n in rows], columns=["step", "loss", "gradient_norm"]
    )


@pytest.fixture(scope="module")
def real(shared_data) -> pd.DataFrame:
    """GPT-2 124M in llm.c, every step."""
    return read(shared_data / "nanogpt-logs/llmc_gpt2_124M/main.log")


def test_two_spikes_of_a_real_run_stand_out_by_far(real):
    found = list(spike_score(real))
    heights = {one.step: float(one.reading.value) for one in found if one.component == "gradient_norm_spike"}
    highest = sorted(heights, key=heights.__getitem__)[-2:]
    assert highest == [7435, 9025]
    assert [heights[step] for step in highest] == pytest.approx([54.34, 89.82], abs=0.01)
    assert sorted(heights.values())[-3] < 40


def test_the_trainers_own_monitor_finds_the_same_spikes(real):
    oracle = json.loads((Path(__file__).parents[1] / "oracles/olmo_spike_score.json").read_text())
    found = list(spike_score(real))
    assert at(found, "loss_spike") == oracle["loss"]
    assert at(found, "gradient_norm_spike") == oracle["gradient_norm"]
    assert value(found) == oracle["scores"]["spike/SpikeScore (total)"]
    running = [float(one.reading.value) for one in found if one.component == "running"]
    assert running[-1] == oracle["scores"]["spike/SpikeScore"]
    paper = list(spike_score(real, deviation=7.0, window=1000))
    assert at(paper, "gradient_norm_spike") == oracle["gradient_norm_of_the_paper"]


def test_it_keeps_the_contract():
    check_declaration(part("summary", "spike_score"))
    check_summary(part("summary", "spike_score"))
