"""A run that was stopped, and taken up again, is the run that was never stopped."""

import os
import signal
import subprocess
import sys
import time

import pytest
import torch

from ontogeny.record.digests import ModelDigest
from ontogeny.record.recipe import Recipe
from ontogeny.record.train import Stopped, resume, train
from ontogeny.replay import at
from ontogeny.store.run import Run
from tiny_recipe import tiny

KINDS = {
    "accumulation": {"training": {"accumulation": 4}},
    "dropout": {"model": {"dropout": 0.2}},
    "bfloat16": {"training": {"autocast": "bfloat16"}},
    "plain": {},
}


def recipe(kind: str) -> Recipe:
    tables = dict(KINDS[kind])
    training = {"clip": 1.0, **tables.pop("training", {})}
    return tiny(training=training, schedule={"name": "linear", "warmup": 4}, **tables)


def stopped_at(step: int):
    def progress(reached, _found):
        if reached == step:
            os.kill(os.getpid(), signal.SIGTERM)

    return progress


def state_of(run: Run) -> dict:
    last = run.checkpoints[-1]
    return {group: {n: t.clone() for n, t in last.tensors(group).items()} for group in last.manifest.tensors}


def next_draws(run: Run, count: int) -> list[int]:
    training = at(run, run.checkpoints[-1].step).training
    streams, objective = training.streams, training.objective
    return [objective.draw(s, streams.generator("data", s)).identity for s in range(24, 24 + count)]


def check_cuts(folder, kind: str, cuts: list[int], twice: int) -> None:
    """Cut at each step and resume (at `twice` two times): the end is that of the uncut run."""
    whole = train(recipe(kind), folder / "whole", grade=False)
    expected, draws = state_of(whole), next_draws(whole, 50)
    for cut in cuts:
        path = folder / f"cut{cut}"
        with pytest.raises(Stopped):
            train(recipe(kind), path, grade=False, progress=stopped_at(cut))
        assert Run.open(path).outcome == "interrupted"
        assert Run.open(path).checkpoints[-1].step == cut, "the step it was at is committed"
        if cut == twice:
            with pytest.raises(Stopped):
                resume(path, progress=stopped_at(cut + 2))
        run = resume(path)
        assert run.outcome == "finished"
        assert run.attempts == (3 if cut == twice else 2)
        found = state_of(run)
        for group, tensors in expected.items():
            assert all(torch.equal(found[group][name], tensor) for name, tensor in tensors.items()), group
        assert next_draws(run, 50) == draws
        both = [r.telemetry("model_digest").drop_duplicates("step", keep="last") for r in (whole, run)]
        assert both[0]["model_digest"].tolist() == both[1]["model_digest"].tolist()
        assert both[0]["step"].tolist() == both[1]["step"].tolist() == list(range(25))


@pytest.mark.parametrize("kind", KINDS)
def test_cut_and_resumed_equals_the_uncut_run(tmp_path, kind):
    check_cuts(tmp_path, kind, [1, 6, 13, 20], twice=13)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_twenty_cuts(tmp_path, kind):
    check_cuts(tmp_path, kind, list(range(1, 21)), twice=9)


def test_after_a_kill_the_lost_steps_are_taken_again(tmp_path):
    whole = train(recipe("plain"), tmp_path / "whole", grade=False)
    child = os.fork()
    if child == 0:
        torch.set_num_threads(1)
        kill = lambda reached, _: os.kill(os.getpid(), signal.SIGKILL) if reached == 11 else None
        try:
            train(recipe("plain"), tmp_path / "killed", grade=False, progress=kill)
        finally:
            os._exit(1)
    os.waitpid(child, 0)
    killed = Run.open(tmp_path / "killed")
    assert killed.outcome == "open"
    assert killed.telemetry("loss")["step"].max() == 11
    run = resume(killed.path)
    both = run.telemetry("loss", overlaps=True)
    assert both[both["step"] == 11]["attempt"].tolist() == [0, 1], "the overlap stays"
    shown = run.telemetry("loss")
    assert shown["step"].tolist() == list(range(1, 25)), "and is shown once"
    assert shown["loss"].tolist() == whole.telemetry("loss")["loss"].tolist()
    assert run.verify() == []


def test_a_finished_run_is_returned_as_it_is(tmp_path):
    run = train(recipe("plain"), tmp_path / "run", grade=False)
    assert resume(run.path).attempts == 1


def test_signals_go_back_and_old_handlers_are_called(tmp_path):
    heard = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: heard.append(number))
    try:
        with pytest.raises(Stopped):
            train(recipe("plain"), tmp_path / "run", grade=False, progress=stopped_at(3))
        assert heard == [signal.SIGTERM]
        os.kill(os.getpid(), signal.SIGTERM)
        assert heard == [signal.SIGTERM] * 2, "the old handler is back"
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.mark.slow
def test_fifty_terminations_leave_a_newest_commit_that_loads(tmp_path):
    """At any point, imports, warm-up and evaluation included."""
    (tmp_path / "tiny.toml").write_text(
        '[model]\nwidth=16\nlayers=1\nheads=2\n[objective]\nname="copied_segments"\nvocabulary=12\ncontext=16\nbatch=4\n'
        "shortest=3\nlongest=6\n[training]\nsteps=100000\n[recording]\nevery=50\nevaluate=64\nsamples=2\n"
    )
    loaded = 0
    for trial in range(50):
        path = tmp_path / str(trial)
        command = [sys.executable, "-m", "ontogeny", "train", str(tmp_path / "tiny.toml"), "--out", str(path)]
        child = subprocess.Popen(
            [*command, "--no-grade"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while child.poll() is None and not (path / "checkpoints" / "000000").exists():
            time.sleep(0.02)
        time.sleep(0.02 * (trial % 25))
        child.terminate()
        child.wait(timeout=30)
        run = Run.open(path)
        newest = run.checkpoints[-1]
        assert newest.verify() == []
        replayed = at(run, newest.step)
        loaded += ModelDigest(replayed.training.model)() == int(newest.manifest.metadata["model_digest"], 16)
    assert loaded == 50
