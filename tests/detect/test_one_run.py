"""Detection on made-up rows: a transition at a known place and step, nulls, and what must not be claimed."""

import math

import numpy as np
import pandas as pd
import pytest
import torch

from ontogeny.catalogue import part
from ontogeny.detect import TABLE, claimed, detect
from ontogeny.errors import NotARun, UnknownName
from ontogeny.store.arrays import array_hash, write_arrays
from ontogeny.store.journal import JournalWriter
from ontogeny.store.rows import write_rows
from ontogeny.store.run import Run

STEPS = np.array([0, *(1 << k for k in range(10)), *range(550, 2001, 50)])
LAYERS, HEADS, DRAWS = 2, 3, 199


@pytest.fixture
def run(tmp_path) -> Run:
    return Run.create(tmp_path / "run", {})


def noise(*shape: int, seed: int, sd: float = 0.01) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, sd, shape)


def sigmoid(centre: float, rate: float = 8.0) -> np.ndarray:
    return 1 / (1 + np.exp(-rate * np.log(np.maximum(STEPS, 0.5) / centre)))


def key(run: Run, name: str, step: int, stimulus: str) -> dict:
    return {
        "run": run.id, "attempt": 0, "step": int(step), "checkpoint": f"c{step}", "part": name, "version": 1,
        "parameters": "p", "stimulus": f"{stimulus}-hash", "stimulus_name": stimulus, "status": "ok",
    }  # fmt: skip


def screened(
    run: Run, values: np.ndarray, null: np.ndarray | None, stimulus: str = "repeated_tokens", again: str = ""
) -> None:
    """Rows of `induction` [layer head checkpoint], and draws of its null [layer draw head checkpoint].

    `again` makes it a later measurement on another stimulus of the same name.
    """
    rows, arrays = [], {}
    for index, step in enumerate(STEPS):
        base = key(run, "induction", step, stimulus)
        base["stimulus"] += again
        for layer in range(LAYERS):
            for head in range(HEADS):
                value = float(values[layer, head, index])
                said = {"value": value} if math.isfinite(value) else {"value": None, "status": "nonfinite"}
                rows.append({**base, "component": "", "layer": layer, "head": head, **said})
            if null is not None:
                draws = torch.from_numpy(null[layer, :, :, index]).float()
                arrays[array_hash(draws)] = draws
                drawn = {"component": "null:shuffled_lag", "layer": layer, "array": array_hash(draws)}
                rows.append({**base, **drawn, "value": 0.0})
    write_arrays(run.path, arrays)
    write_rows(run.path, f"induction-{stimulus}{again}", rows, {})


def flat(seed: int = 0) -> np.ndarray:
    return 0.03 + noise(LAYERS, HEADS, len(STEPS), seed=seed)


def weak_null(seed: int = 7) -> np.ndarray:
    return 0.03 + noise(LAYERS, DRAWS, HEADS, len(STEPS), seed=seed)


@pytest.fixture
def formed(run) -> Run:
    """Head 2 of layer 1 forms at step 300; nothing else does."""
    values = flat()
    values[1, 2] += 0.85 * sigmoid(300)
    screened(run, values, weak_null())
    return run


def test_the_head_that_formed_is_claimed_at_its_step(formed):
    table = detect(formed.path)
    assert len(table) == LAYERS * HEADS
    found = table[table["verdict"] == "transition"]
    assert found[["part", "layer", "head"]].values.tolist() == [["induction", 1, 2]]
    (row,) = found.to_dict("records")
    assert row["low"] <= 300 <= row["high"]
    assert 256 <= row["step"] <= 350
    assert row["size"] == pytest.approx(0.85, abs=0.05)
    assert row["p"] == pytest.approx(1 / (DRAWS + 1))
    assert (row["method"], row["unit"], row["stimulus_name"]) == ("half_rise", "attention", "repeated_tokens")
    assert all(table[table["verdict"] != "transition"]["reason"])


def test_what_is_stored_is_what_was_returned(formed):
    table = detect(formed.path)
    pd.testing.assert_frame_equal(Run.open(formed.path).transitions, table, check_dtype=False)
    again = detect(formed.path)
    pd.testing.assert_frame_equal(again, table)
    assert not formed.verify()
    assert (formed.path / TABLE).exists()


def test_nothing_is_claimed_without_a_null(run):
    values = flat()
    values[1, 2] += 0.85 * sigmoid(300)
    screened(run, values, None)
    table = detect(run.path)
    assert set(table["verdict"]) == {"none"}
    assert all("no null is known" in reason for reason in table["reason"])
    (row,) = table[(table["layer"] == 1) & (table["head"] == 2)].to_dict("records")
    assert row["low"] <= 300 <= row["high"], "the numbers are given all the same"
    assert claimed(table).empty


def test_noise_alone_is_not_claimed(run):
    screened(run, flat(), weak_null())
    assert set(detect(run.path)["verdict"]) == {"none"}


def test_a_rise_that_one_head_of_the_null_also_shows_is_not_claimed(run):
    """The null of another layer counts: the best of all heads must beat the best of all nulls."""
    values, null = flat(), weak_null()
    values[1, 2] += 0.85 * sigmoid(300)
    null[0, : DRAWS // 5, 1] += 0.9 * sigmoid(300)
    screened(run, values, null)
    table = detect(run.path)
    assert "transition" not in set(table["verdict"])
    (row,) = table[(table["layer"] == 1) & (table["head"] == 2)].to_dict("records")
    assert row["p"] == pytest.approx((1 + DRAWS // 5) / (DRAWS + 1))


def test_checkpoints_without_a_value_or_a_null_are_left_out(run):
    values, null = flat(), weak_null()
    values[1, 2] += 0.85 * sigmoid(300)
    values[:, :, 20] = math.nan
    null[:, :, :, 22] = math.nan
    screened(run, values, null)
    (row,) = claimed(detect(run.path)).to_dict("records")
    assert (row["layer"], row["head"]) == (1, 2)
    assert "1 checkpoints left out" in row["reason"]


def test_stimuli_are_judged_apart(formed):
    screened(formed, flat(seed=3), weak_null(seed=4), "other")
    table = detect(formed.path)
    assert table.groupby("stimulus_name")["verdict"].agg(set).to_dict() == {
        "other": {"none"},
        "repeated_tokens": {"none", "transition"},
    }


def test_what_was_measured_again_on_a_new_stimulus_replaces_the_old(formed):
    """Another hash under the same name: the newest is judged, and its null is found."""
    screened(formed, flat(seed=8), weak_null(seed=9), again="2")
    table = detect(formed.path)
    assert len(table) == LAYERS * HEADS
    assert set(table["verdict"]) == {"none"}


def test_a_status_of_the_whole_stimulus_is_no_place(formed):
    gone = {
        **key(formed, "induction", 2000, "repeated_tokens"),
        "stimulus": "",
        "status": "no-target",
        "component": "",
    }
    write_rows(formed.path, "gone", [gone], {})
    table = detect(formed.path)
    assert len(table) == LAYERS * HEADS
    assert len(claimed(table)) == 1


def test_a_part_that_could_never_be_measured_has_its_reason(run):
    rows = [
        {
            **key(run, "induction", step, "repeated_tokens"),
            "status": "too-short",
            "component": "",
            "reason": "context of 8",
        }
        for step in STEPS
    ]
    write_rows(run.path, "rows", rows, {})
    (row,) = detect(run.path).to_dict("records")
    assert row["verdict"] == "none"
    assert "too-short" in row["reason"]


def test_numbers_without_a_place_or_with_a_matrix_keep_their_address(run):
    fall = 4 - 2 * sigmoid(300) + noise(len(STEPS), seed=1)
    rows = [
        {**key(run, "heldout_loss", step, "heldout"), "component": "", "value": float(fall[i])}
        for i, step in enumerate(STEPS)
    ]
    rows += [
        {
            **key(run, "stable_rank", step, ""),
            "component": "",
            "layer": 0,
            "matrix": name,
            "value": float(fall[i]),
        }
        for i, step in enumerate(STEPS)
        for name in ("attention.query", "attention.key")
    ]
    write_rows(run.path, "rows", rows, {})
    table = detect(run.path)
    loss = table[table["part"] == "heldout_loss"]
    assert loss["layer"].isna().all()
    assert loss["unit"].tolist() == ["nats/token"]
    assert loss["size"].tolist() == pytest.approx([-2], abs=0.1)
    assert sorted(table[table["part"] == "stable_rank"]["matrix"]) == ["attention.key", "attention.query"]
    assert set(table["verdict"]) == {"none"}


def test_the_schema_is_the_same_whatever_was_found(formed, tmp_path):
    full = detect(formed.path)
    single = Run.create(tmp_path / "single", {})
    rows = [{**key(single, "heldout_loss", 0, "heldout"), "component": "", "value": 1.0}]
    write_rows(single.path, "rows", rows, {})
    empty = detect(single.path)
    assert empty.empty, "one checkpoint is no series"
    pd.testing.assert_series_equal(empty.dtypes, full.dtypes)
    assert Run.open(single.path).transitions.columns.tolist() == full.columns.tolist()
    assert claimed(empty).empty


def test_only_what_is_named_is_judged(formed):
    rows = [{**key(formed, "heldout_loss", step, "heldout"), "component": "", "value": 1.0} for step in STEPS]
    write_rows(formed.path, "loss", rows, {})
    heard = []
    assert set(detect(formed.path, ["heldout_loss"], done=heard.append)["part"]) == {"heldout_loss"}
    assert heard == ["heldout_loss"]
    assert set(detect(formed.path)["part"]) == {"induction", "heldout_loss"}


def test_what_was_not_measured_is_refused(run, formed, tmp_path):
    with pytest.raises(UnknownName, match="did you mean 'induction'"):
        detect(formed.path, ["inductoin"])
    with pytest.raises(UnknownName, match="measured"):
        detect(formed.path, ["cka"])
    with pytest.raises(UnknownName, match="half_rise"):
        detect(formed.path, detector="half_fall")
    empty = Run.create(tmp_path / "empty", {})
    with pytest.raises(NotARun, match="nothing was measured"):
        detect(empty.path)


def test_the_strongest_place_of_each_part_is_named(run):
    values = flat()
    values[1, 2] += 0.5 * sigmoid(300)
    values[0, 1] += 0.9 * sigmoid(600)
    screened(run, values, weak_null())
    table = detect(run.path)
    assert (table["verdict"] == "transition").sum() == 2
    (row,) = claimed(table).to_dict("records")
    assert (row["layer"], row["head"]) == (0, 1)


def test_an_instrument_with_a_null_is_what_was_made_up():
    made = part("instrument", "induction")
    assert (made.null, made.axes) == ("shuffled_lag", ("head",))


def test_looking_at_one_part_keeps_what_was_found_of_others(formed):
    rows = [
        {**key(formed, "heldout_loss", step, "heldout"), "component": "", "value": 4.0 - index}
        for index, step in enumerate(STEPS)
    ]
    write_rows(formed.path, "loss", rows, {})
    everything = detect(formed.path)
    alone = detect(formed.path, ["heldout_loss"])
    assert set(alone["part"]) == {"heldout_loss"}
    stored = Run.open(formed.path).transitions
    assert len(stored) == len(everything) == LAYERS * HEADS + 1


def journal(run: Run, values: np.ndarray) -> None:
    with JournalWriter(run.path / "journal" / "000.journal") as writer:
        for step, value in enumerate(values.tolist()):
            writer.append(step, {"gradient_norm": value})


def test_telemetry_is_looked_at_where_it_is_named(run):
    norm = 1 + noise(120, seed=2, sd=0.05)
    norm[70:] += 1
    norm[30] = math.nan
    journal(run, norm)
    table = detect(run.path, ["metric:gradient_norm"], detector="pelt", null="default")
    (row,) = table.to_dict("records")
    assert (row["part"], row["verdict"], row["kind"]) == ("metric:gradient_norm", "transition", "rise")
    assert row["low"] <= 70 <= row["high"] + 1
    assert (row["method"], row["null"]) == ("pelt", part("detector", "pelt").null)
    assert Run.open(run.path).transitions["part"].tolist() == ["metric:gradient_norm"]


def test_telemetry_stays_when_parts_are_looked_at_again(formed):
    journal(formed, 1 + noise(60, seed=2))
    detect(formed.path, ["metric:gradient_norm"], null="autoregressive")
    assert "metric:gradient_norm" not in set(detect(formed.path)["part"])
    assert "metric:gradient_norm" in set(Run.open(formed.path).transitions["part"])


def test_a_metric_that_was_not_recorded_is_refused(run):
    journal(run, np.ones(5))
    with pytest.raises(UnknownName, match="gradient_norm"):
        detect(run.path, ["metric:gradient_nrm"])


def test_several_changes_of_one_place_are_several_rows(run):
    values = np.r_[np.zeros(20), np.ones(20), np.zeros(20)] + noise(60, seed=3, sd=0.05)
    journal(run, values)
    table = detect(run.path, ["metric:gradient_norm"], detector="pelt(penalty=2)", null="autoregressive")
    assert table["kind"].tolist() == ["rise", "fall"]
    assert table["settings"].tolist() == ["penalty=2.0"] * 2
    assert table["q"].tolist() == table["p"].tolist(), "one part is one test"


def test_a_null_of_series_serves_parts_without_one_of_their_own(formed):
    fall = 4 - 2 * sigmoid(300, 30) + noise(len(STEPS), seed=1)
    rows = [
        {**key(formed, "heldout_loss", step, "heldout"), "component": "", "value": float(fall[i])}
        for i, step in enumerate(STEPS)
    ]
    write_rows(formed.path, "loss", rows, {})
    table = detect(formed.path, null="autoregressive")
    loss = table[table["part"] == "heldout_loss"].iloc[0]
    assert (loss["verdict"], loss["null"]) == ("transition", "autoregressive")
    assert set(table[table["part"] == "induction"]["null"]) == {"shuffled_lag"}
    assert loss["q"] >= loss["p"]


def test_a_head_that_rises_by_a_trifle_is_too_small_to_tell(run):
    quiet = noise(LAYERS, HEADS, len(STEPS), seed=5, sd=0.0002) + 0.03
    quiet[1, 2] += 0.007 * sigmoid(600, 40)
    screened(run, quiet, 0.03 + (weak_null() - 0.03) / 50)
    table = detect(run.path)
    (row,) = table[(table["layer"] == 1) & (table["head"] == 2)].to_dict("records")
    assert row["verdict"] == "none"
    assert row["reason"].startswith("too small to tell: 0.007")
    assert row["p"] < 0.01
    assert claimed(table).empty
    assert len(claimed(detect(run.path, least=0), least=0)) == 1
