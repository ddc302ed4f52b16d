"""Parts that read a training step, measured at checkpoints: the very numbers that telemetry has."""

import shutil

import pytest
import torch

from ontogeny.measure import explain, measure
from ontogeny.models import Decoder, DecoderConfig
from ontogeny.record.recorder import Recorder
from ontogeny.record.train import record_step, run_identity
from ontogeny.record.training import Training, objective_of
from ontogeny.series import Series
from ontogeny.store.rows import read_rows
from ontogeny.store.run import Run
from tiny_recipe import tiny

PARTS = ["gradient_norm", "update_ratio", "gradient_stability"]
CHECKPOINTS, STEPS = (0, 1, 5, 9, 12), 12


def online_run(path, close: bool = True) -> Run:
    """A clipped run of our own with every part at every step."""
    recipe = tiny(training={"steps": STEPS, "clip": 0.5})
    training = Training(recipe, objective_of(recipe, path))
    others = {name: part for name, part in training.state.items() if name not in ("model", "optimizer")}
    recorder = Recorder(
        path,
        training.model,
        training.optimizer,
        checkpoints=CHECKPOINTS,
        parts=others,
        identity=run_identity(training),
        every=dict.fromkeys(PARTS, 1),
    )
    for _ in range(STEPS):
        record_step(training, recorder, training.step())
    recorder.close("finished" if close else "interrupted")
    return Run.open(path)


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Run:
    made = online_run(tmp_path_factory.mktemp("taken") / "run")
    assert measure(made.path, PARTS) == len(CHECKPOINTS)
    return Run.open(made.path)


@pytest.mark.parametrize("name", PARTS)
def test_every_row_is_what_telemetry_has_at_its_step(run, name):
    table = run.table(name)
    rows = table[table["status"] == "ok"]
    ahead = 2 if name == "gradient_stability" else 1
    expected = [step + ahead for step in CHECKPOINTS if step + ahead <= STEPS]
    assert sorted(set(rows["step"])) == expected
    assert rows["matrix"].nunique() > 8
    told = run.telemetry(*(m for m in run.metrics if m.startswith(name))).set_index("step")
    for row in rows.itertuples():
        metric = name + (f".{row.component}" if row.component else "")
        metric += f"/{row.matrix}" if isinstance(row.matrix, str) else ""
        assert told.loc[row.step, metric] == row.value, (metric, row.step)


def test_a_row_names_the_checkpoint_it_was_taken_from(run):
    table = run.table("gradient_norm")
    hashes = {kept.step: kept.hash for kept in run.checkpoints}
    assert {(row.step - 1, row.checkpoint) for row in table.itertuples()} == set(hashes.items())


def test_the_end_of_a_run_has_no_step_after_it(run):
    table = run.table("gradient_norm")
    last = table[table["step"] == STEPS + 1]
    assert last["status"].tolist() == ["no-target"]
    assert last["reason"].tolist() == ["the run ended with step 12"]


def test_nothing_is_measured_twice(run):
    assert measure(run.path, PARTS) == 0
    assert explain(run.path, PARTS).checkpoints == 0


def test_a_price_is_that_of_taking_the_step(run):
    prices = {name.partition("(")[0]: seconds for name, seconds, _ in explain(run.path, PARTS).parts}
    assert set(prices) == set(PARTS)
    assert min(prices.values()) > 1e-3


def test_parameters_reach_the_part(run):
    measure(run.path, ["gradient_norm(clip=0.1)"])
    plain, other = (
        run.rows("gradient_norm", component="clip_coefficient", settings=settings)
        for settings in ("", "clip=0.1")
    )
    assert float(other.min()) < float(plain.min())


@pytest.mark.slow
def test_threads_are_those_of_the_recording(run):
    """Measuring runs on one thread; a step that was taken on two is taken again on two."""
    path = run.path.parent / "two"
    torch.set_num_threads(2)
    try:
        online_run(path)
    finally:
        torch.set_num_threads(1)
    assert measure(path, ["gradient_norm"]) == len(CHECKPOINTS)
    assert torch.get_num_threads() == 1
    assert (Run.open(path).table("gradient_norm")["status"] == "ok").sum() > 40


def test_of_a_run_that_may_go_on_the_last_checkpoint_waits(tmp_path):
    open_run = online_run(tmp_path / "run", close=False)
    measure(open_run.path, ["gradient_norm"])
    table = Run.open(open_run.path).table("gradient_norm")
    assert set(table["status"]) == {"ok"}
    assert sorted(set(table["step"])) == [1, 2, 6, 10]
    files = sorted((open_run.path / "rows").iterdir())
    assert measure(open_run.path, ["gradient_norm"]) == 0
    assert sorted((open_run.path / "rows").iterdir()) == files


def test_a_loop_of_other_people_cannot_be_taken_up_from_text(tmp_path):
    model = Decoder(DecoderConfig(vocabulary=11, context=8, width=16, layers=1, heads=2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with Recorder(tmp_path / "run", model, optimizer, checkpoints={0}) as recorder:
        loss = model(torch.arange(8)[None]).square().mean()
        loss.backward()
        optimizer.step()
        recorder.step(loss)
    measure(tmp_path / "run", ["gradient_norm"])
    first = Run.open(tmp_path / "run").table("gradient_norm").iloc[0]
    assert first["status"] == "not-observable"
    assert "was recorded from a foreign loop" in first["reason"]


def test_checkpoints_without_their_run_show_no_gradients(run, tmp_path):
    shutil.copytree(run.path / "checkpoints", tmp_path / "series", symlinks=False)
    measure(tmp_path / "series", ["gradient_norm"])
    rows = read_rows(Series.open(tmp_path / "series").home)
    assert set(rows["status"]) == {"not-observable"}
    assert "gradients are read while it is trained" in rows["reason"].iloc[0]
