"""`ontogeny detect` over runs, seeds, controls and parts, as a user meets it."""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from ontogeny.catalogue import part
from ontogeny.detect import SEEDS
from ontogeny.store.rows import read_table, write_rows
from ontogeny.store.run import Run

STEPS = np.array([0, *(1 << k for k in range(10)), *range(550, 2001, 50)])


def fall(centre: float | None, seed: int) -> np.ndarray:
    values = 4 + np.random.default_rng(seed).normal(0, 0.01, len(STEPS))
    return values if centre is None else values - 2 / (1 + (np.maximum(STEPS, 0.5) / centre) ** -20)


def make(folder, name: str, seed: int, *, first: float | None, second: float | None, lr: float = 0.1) -> Run:
    """A run in which one loss falls at a step, and a norm at another."""
    run = Run.create(folder / name, {"recipe": {"optimizer": {"lr": lr}, "training": {"seed": seed}}})
    rows = [
        {
            "run": run.id, "attempt": 0, "step": int(step), "checkpoint": f"c{step}", "part": part,
            "version": 1, "parameters": "p", "stimulus": "h", "stimulus_name": "heldout", "status": "ok",
            "component": "", "value": float(value),
        }
        for part, values in (("heldout_loss", fall(first, seed)), ("surprisal", fall(second, seed + 100)))
        for step, value in zip(STEPS, values, strict=True)
    ]  # fmt: skip
    write_rows(run.path, "rows", rows, {})
    return run


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    folder = tmp_path_factory.mktemp("detecting")
    for seed, (first, second) in enumerate(((100, 300), (90, 310), (110, 280))):
        make(folder / "runs", f"seed-{seed}", seed, first=first, second=second)
        make(folder / "controls", f"seed-{seed}", seed, first=None, second=None, lr=9.0)
    return folder


def test_one_run_tells_its_interval_p_and_q(ontogeny, collection):
    status, out, _ = ontogeny("detect", collection / "runs/seed-0", "--null", "autoregressive")
    assert status == 0
    assert "heldout_loss" in out
    assert "0.005" in out
    assert re.search(r" p +q\b", out)
    assert "2 series looked at: 2 transition" in out


def test_without_a_null_nothing_is_claimed(ontogeny, collection):
    _, out, _ = ontogeny("detect", collection / "runs/seed-0")
    assert "no transition can be claimed: no null is known for this quantity" in " ".join(out.split())


def test_naming_a_detector_brings_its_null(ontogeny, collection):
    _, out, _ = ontogeny("detect", collection / "runs/seed-0", "--detector", "half_rise(hold=2)")
    assert "2 transition" in out
    found = Run.open(collection / "runs/seed-0").transitions
    assert set(found["settings"]) == {"hold=2"}
    assert set(found["null"]) == {part("detector", "half_rise").null}
    _, out, _ = ontogeny("detect", collection / "runs/seed-0", "--detector", "half_rise", "--null", "none")
    assert "no transition can be claimed" in out


def test_seeds_are_told_together_and_kept(ontogeny, collection):
    status, out, _ = ontogeny("detect", collection / "runs", "--null", "autoregressive")
    assert status == 0
    assert "3 of 3" in out
    assert "95 % over runs" in " ".join(out.split())
    kept = read_table(collection / "runs" / SEEDS).to_pandas()
    assert kept["shown"].tolist() == [3, 3]
    assert kept["group"].tolist() == ["runs", "runs"]
    status, _, _ = ontogeny("report", collection / "runs", "--out", "page.html")
    assert status == 0
    assert "<h2>Over seeds</h2>" in Path("page.html").read_text()


def test_seeds_can_be_told_one_by_one(ontogeny, collection):
    _, out, _ = ontogeny("detect", collection / "runs", "--null", "autoregressive", "--no-seeds")
    assert out.count("series looked at") == 3


def test_too_few_seeds_against_controls_get_no_p_and_the_number_needed(ontogeny, collection):
    words = ("detect", collection / "runs", "--null", "autoregressive", "--control", collection / "controls")
    status, out, _ = ontogeny(*words)
    assert status == 0
    assert "0 of 3" in out
    assert "3 + 3 units cannot go below p = 0.1" in out


def test_the_lead_of_one_part_over_another(ontogeny, collection):
    words = ("detect", collection / "runs", "--null", "autoregressive", "--lead", "heldout_loss,surprisal")
    status, out, _ = ontogeny(*words)
    assert status == 0
    line = next(line for line in out.splitlines() if "mean of 3" in line)
    assert "heldout_loss" in line
    assert "3 pairs cannot go below p = 0.25" in out


def test_what_is_too_small_to_tell_is_counted(ontogeny, collection):
    _, out, _ = ontogeny(
        "detect", collection / "runs/seed-0", "--null", "autoregressive", "--least", "heldout_loss=5"
    )
    assert "1 of them too small to tell" in out
    assert "surprisal" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--least", "much"), ("much", "0.1; induction=0.1")),
        (("--lead", "heldout_loss"), ("FIRST,SECOND",)),
        (("--lead", "heldout_loss,surprise"), ("surprise", "surprisal")),
        (("--null", "shuffled_lag"), ("shuffled_lag", "autoregressive")),
        (("--detector", "half_rise(hold)"), ("half_rise(hold)", "name(parameter=value")),
        (("--by", "head"), ("head", "best, place")),
        (("--correction", "holm"), ("holm", "bh, by")),
        (("--parts", "metric:loss"), ("loss",)),
    ],
)
def test_bad_input_gets_a_clear_error(ontogeny, collection, words, said):
    status, _, complaint = ontogeny("detect", collection / "runs", *words)
    assert status == 2
    assert "Traceback" not in complaint
    for one in said:
        assert one in complaint


def test_a_run_that_was_not_measured_is_left_out_and_named(ontogeny, collection, tmp_path):
    shutil.copytree(collection / "runs", tmp_path / "runs")
    shutil.rmtree(tmp_path / "runs" / "seed-1" / "rows")
    status, out, _ = ontogeny("detect", tmp_path / "runs", "--null", "autoregressive")
    assert status == 0
    assert "left out: nothing was measured on seed-1" in out
    assert "2 of 2" in out
    for seed in (0, 2):
        shutil.rmtree(tmp_path / "runs" / f"seed-{seed}" / "rows")
    status, _, err = ontogeny("detect", tmp_path / "runs", "--null", "autoregressive")
    assert status != 0
    assert "nothing was measured on any of these" in err
