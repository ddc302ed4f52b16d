"""Runs on disk, held together: each is looked at and keeps its table, the collection keeps theirs."""

import numpy as np
import pytest

from ontogeny.detect import SEEDS, detect_seeds
from ontogeny.errors import NotARun, NotObservable
from ontogeny.store.rows import read_table, write_rows
from ontogeny.store.run import Run

STEPS = np.array([0, *(1 << k for k in range(10)), *range(550, 2001, 50)])


def make(folder, seed: int, centre: float | None, lr: float = 0.1) -> Run:
    """A run whose held-out loss falls by 2 at a step, or stays."""
    recipe = {"optimizer": {"lr": lr}, "training": {"seed": seed}}
    run = Run.create(folder / f"lr-{lr}-seed-{seed}", {"recipe": recipe})
    loss = 4 + np.random.default_rng(seed).normal(0, 0.01, len(STEPS))
    if centre is not None:
        loss -= 2 / (1 + np.exp(-20 * np.log(np.maximum(STEPS, 0.5) / centre)))
    rows = [
        {
            "run": run.id, "attempt": 0, "step": int(step), "checkpoint": f"c{step}", "part": "heldout_loss",
            "version": 1, "parameters": "p", "stimulus": "h", "stimulus_name": "heldout", "status": "ok",
            "component": "", "value": float(value),
        }
        for step, value in zip(STEPS, loss, strict=True)
    ]  # fmt: skip
    write_rows(run.path, "rows", rows, {})
    return run


@pytest.fixture
def runs(tmp_path) -> list:
    return [make(tmp_path, seed, centre).path for seed, centre in enumerate((800, 880, 930, 960, 890))]


def test_the_runs_step_is_between_their_steps_and_is_kept(runs, tmp_path):
    found = detect_seeds(runs, ["heldout_loss"], null="autoregressive", home=tmp_path)
    (row,) = found.to_dict("records")
    assert (row["shown"], row["runs"]) == (5, 5)
    assert 780 <= row["low"] <= 890 <= row["high"] <= 1000
    assert row["size"] == pytest.approx(-2, abs=0.05)
    assert row["p"] < 1e-6
    kept = read_table(tmp_path / SEEDS).to_pandas()
    assert kept["step"].tolist() == found["step"].tolist()
    assert all(len(Run.open(path).transitions) == 1 for path in runs)


def test_controls_that_do_not_fall_are_told_apart(runs, tmp_path):
    controls = [make(tmp_path, seed, None, lr=9.0).path for seed in range(5)]
    (row,) = detect_seeds(runs, null="autoregressive", controls=controls).to_dict("records")
    assert (row["shown"], row["controls_shown"]) == (5, 0)
    assert row["p"] == pytest.approx(2 / 252)


def test_runs_of_another_configuration_are_refused(runs, tmp_path):
    other = make(tmp_path, 7, 900, lr=0.3)
    with pytest.raises(NotObservable, match="do not repeat one another"):
        detect_seeds([*runs, other.path])
    with pytest.raises(NotObservable, match="both of seed 0"):
        detect_seeds([*runs, runs[0]])
    with pytest.raises(NotARun, match="no runs"):
        detect_seeds([])
