"""kill -9 at random points of a recorded loop: the run opens, what was committed verifies, nothing is lost.

One process imports torch and forks a child a trial; each child records a tiny loop and says, through a pipe,
which steps and checkpoints it has been acknowledged.
"""

import os
import random
import shutil
import signal
import time
from pathlib import Path

import pytest
import torch
from torch import nn

from ontogeny.record.recorder import Recorder
from ontogeny.store.run import Run


def record_for_ever(path: Path, pipe: int) -> None:
    model = nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    recorder = Recorder(path, model, optimizer)
    while True:
        loss = model(torch.ones(2, 4)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        recorder.step(loss)
        os.write(pipe, b".")


def killed_run(path: Path, seconds: float, after_first_step: bool) -> int:
    """Record in a child, kill it a while after it began, or after its first step; returns how many steps it
    had been acknowledged."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            record_for_ever(path, writer)
        finally:
            os._exit(1)
    os.close(writer)
    acknowledged = len(os.read(reader, 1)) if after_first_step else 0
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while block := os.read(reader, 65536):
        acknowledged += len(block)
    os.close(reader)
    return acknowledged


def check(path: Path, acknowledged: int) -> None:
    if not (path / "run.json").exists():
        assert acknowledged == 0
        return
    run = Run.open(path)
    assert run.outcome == "open", "nobody said that it ended"
    assert run.verify() == []
    if acknowledged:
        steps = run.telemetry("loss")["step"].tolist()
        assert steps[:acknowledged] == list(range(1, acknowledged + 1)), "an acknowledged step is lost"
        assert len(steps) <= acknowledged + 1
    for checkpoint in run.checkpoints:
        assert checkpoint.verify() == []
    with run.held():
        assert not list((path / "checkpoints").glob(".*")), "what was half written is swept away"


def trials(folder: Path, count: int, seed: int) -> None:
    rng = random.Random(seed)
    reached = 0
    for trial in range(count):
        path = folder / str(trial)
        acknowledged = killed_run(path, rng.uniform(0.0, 0.1), after_first_step=trial % 4 > 0)
        check(path, acknowledged)
        reached += acknowledged > 0
        shutil.rmtree(path, ignore_errors=True)
    assert reached > count // 2, "most children were killed before they did anything"


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork.*:DeprecationWarning")
def test_twenty_kills(tmp_path):
    trials(tmp_path, 20, seed=int(time.time()) % 100_000)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork.*:DeprecationWarning")
def test_five_hundred_kills(tmp_path):
    trials(tmp_path, 500, seed=int(time.time()) % 100_000)
