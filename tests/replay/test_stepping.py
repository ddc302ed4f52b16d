"""A recorded step, taken again, gives the numbers that were recorded of it: to the last bit."""

import math

import pytest

from foreign_loop import advance, loader, made, recorded
from ontogeny.errors import BadContract, NotReplayable, UnknownName
from ontogeny.record.recorder import Recorder
from ontogeny.record.train import record_step, run_identity
from ontogeny.record.training import Training, objective_of
from ontogeny.replay import measure_step, read_steps
from ontogeny.store.run import Run
from ontogeny.vocabulary import Place, Status
from tiny_recipe import tiny

PARTS = ["gradient_norm", "update_ratio", "gradient_stability"]
STEPS = 12


def same(run: Run, step: int, found: dict[str, float]) -> None:
    frame = run.telemetry(*found)
    there = frame[frame["step"] == step].iloc[0]
    for metric, value in found.items():
        assert there[metric] == value or (math.isnan(there[metric]) and math.isnan(value)), metric


@pytest.fixture(scope="module")
def own(tmp_path_factory) -> Run:
    """A run of our own, clipped at nearly every step, with every part at every step."""
    path = tmp_path_factory.mktemp("own") / "run"
    recipe = tiny(training={"steps": STEPS, "clip": 0.5})
    training = Training(recipe, objective_of(recipe, path))
    others = {name: part for name, part in training.state.items() if name not in ("model", "optimizer")}
    with Recorder(
        path,
        training.model,
        training.optimizer,
        checkpoints={0, 4, 9},
        parts=others,
        identity=run_identity(training),
        every=dict.fromkeys(PARTS, 1),
    ) as recorder:
        for _ in range(STEPS):
            record_step(training, recorder, training.step())
    return Run.open(path)


@pytest.fixture(scope="module")
def foreign(tmp_path_factory) -> Run:
    """A loop that is not ours, with its own generators; the stability of its gradients every third step."""
    every = {"gradient_norm": 1, "update_ratio": 2, "gradient_stability": 3}
    return recorded(tmp_path_factory.mktemp("foreign") / "run", between=loader, every=every)


def loop() -> dict:
    model, optimizer, schedule = made()
    return {"advance": advance, "model": model, "optimizer": optimizer, "parts": {"schedule": schedule}}


@pytest.mark.parametrize("step", [1, 4, 5, 10, 12])
def test_a_step_of_a_run_of_our_own(own, step):
    found = measure_step(own, step, PARTS)
    assert set(PARTS) <= set(found)
    assert math.isnan(found["gradient_stability"]) == (step == 1), (
        "before the first step there is no gradient"
    )
    same(own, step, found)
    assert own.telemetry("clip_coefficient")["clip_coefficient"].max() < 1, "or clipping is not tested"


@pytest.mark.parametrize("step", [6, 12])
def test_a_step_of_a_foreign_loop(foreign, step):
    found = measure_step(foreign, step, PARTS, **loop())
    assert {"gradient_norm/0", "gradient_norm/biases", "gradient_stability/3"} <= set(found)
    assert all(map(math.isfinite, found.values()))
    same(foreign, step, found)


def test_each_part_of_a_foreign_loop_keeps_its_own_rhythm(foreign):
    frame = foreign.telemetry(*PARTS).set_index("step")
    assert frame["gradient_norm"].notna().sum() == STEPS
    assert frame.index[frame["update_ratio"].notna()].tolist() == [2, 4, 6, 8, 10, 12]
    assert frame.index[frame["gradient_stability"].notna()].tolist() == [3, 6, 9, 12]


def test_several_steps_in_one_replay_are_those_of_each(own):
    wanted = {"gradient_norm": 5, "gradient_stability": 6, "update_ratio": 10}
    together = {said.metric: said.number for said in read_steps(own, wanted)}
    assert together == {
        k: v for name, step in wanted.items() for k, v in measure_step(own, step, [name]).items()
    }


def test_a_parameter_is_part_of_the_name(own):
    found = measure_step(own, 3, ["gradient_norm(clip=0.1)", "gradient_norm"])
    assert found["gradient_norm(clip=0.1)"] == found["gradient_norm"]
    ratio = found["gradient_norm(clip=0.1).clip_coefficient"] / found["gradient_norm.clip_coefficient"]
    assert ratio == pytest.approx(0.1 / min(1.0, found["gradient_norm"]))


def test_what_is_said_has_a_place_and_a_status(own):
    said = read_steps(own, {"gradient_stability": 1})
    assert said[0].place == Place()
    assert {one.reading.status for one in said} == {Status.NO_TARGET}
    assert {"matrix"} == {axis for one in said for axis in one.place}


def test_no_step_says_nothing_and_what_cannot_be_taken_is_refused(own, foreign):
    assert measure_step(own, 0, ["gradient_norm"]) == {}
    with pytest.raises(BadContract, match="cannot be read from a training step"):
        measure_step(own, 3, ["heldout_loss"])
    with pytest.raises(UnknownName, match="did you mean 'gradient_norm'"):
        measure_step(own, 3, ["gradient_nrm"])
    with pytest.raises(NotReplayable):
        measure_step(foreign, 3, ["gradient_norm"])
