"""Signals inside a save: the first is obeyed at the step boundary, a second interrupt costs that save."""

import os
import random
import signal
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from children import child, ended
from ontogeny.record.train import resume, train
from ontogeny.replay import at
from ontogeny.store import files
from ontogeny.store.run import Run
from tiny_recipe import tiny

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork.*:DeprecationWarning")

RECIPE = tiny(
    model={"width": 8, "heads": 1, "mlp": "none"},
    objective={"batch": 2},
    training={"steps": 20},
    recording={"every": 4, "dense_until": 0, "evaluate": 0},
)
INT, TERM = signal.SIGINT, signal.SIGTERM


@pytest.mark.parametrize("trials", [6, pytest.param(100, marks=pytest.mark.slow)])
def test_two_interrupts_at_any_time_leave_the_commit_before(tmp_path, trials):
    rng = random.Random(trials)
    for trial in range(trials):
        path = tmp_path / str(trial)
        number = child(lambda path=path: train(RECIPE, path, grade=False))
        awaited(path / "checkpoints" / "000000")
        time.sleep(rng.uniform(0, 0.05))
        os.kill(number, INT)
        time.sleep(rng.uniform(0, 0.01))
        os.kill(number, INT)
        ended(number)
        run = Run.open(path)
        assert run.checkpoints[0].step == 0
        assert run.verify() == []
        assert resume(path).checkpoints[-1].step == 20
        assert at(path, run.checkpoints[-1].step).exact


def awaited(mark: Path, seconds: float = 20) -> None:
    until = time.monotonic() + seconds
    while not mark.exists():
        assert time.monotonic() < until, f"{mark.name} did not come"
        time.sleep(0.001)


class SlowSave:
    """Trains in a child whose disk takes a fifth of a second for every write of one checkpoint, from the
    `write`-th on, and tells by a file that it is there."""

    def __init__(self, folder: Path, step: int, write: int, interrupted_at: int) -> None:
        self.path, self.inside, self.left = folder / "run", folder / "inside", folder / "left"
        self.step, self.write, self.interrupted_at = step, write, interrupted_at
        self.writes = 0

    def work(self) -> None:
        signal.signal(INT, signal.default_int_handler)  # a worker of pytest-xdist ignores it
        plain = files.raw_write

        def slow(descriptor, data):
            if threading.current_thread().name == f"ontogeny checkpoint {self.step}":
                self.writes += 1
                if self.writes >= self.write:
                    self.inside.touch()
                    time.sleep(0.2)
            return plain(descriptor, data)

        files.raw_write = slow
        try:
            train(RECIPE, self.path, grade=False, progress=self._interrupt)
        finally:
            writing = [thread.name for thread in threading.enumerate() if "checkpoint" in thread.name]
            self.left.write_text(" ".join(writing))

    def _interrupt(self, step: int, _) -> None:
        if step == self.interrupted_at:
            os.kill(os.getpid(), INT)

    def send(self, numbers: Sequence[int]) -> float:
        """Run the child, send it the signals when it is inside the save; how long it lived after the last."""
        number = child(self.work)
        awaited(self.inside)
        for one in numbers:
            time.sleep(0.05)
            os.kill(number, one)
        sent = time.monotonic()
        assert ended(number, 30) == 1
        return time.monotonic() - sent

    def require(self, newest: int) -> None:
        """The newest commit is whole, nothing else is there, and the run goes on from it to its end."""
        assert self.left.read_text() == "", "nobody writes on when the run has been let go of"
        run = Run.open(self.path)
        assert run.outcome == "interrupted"
        assert not list(self.path.glob("checkpoints/.*"))
        assert [c.step for c in run.checkpoints] == [*range(0, newest, 4), newest]
        assert run.verify() == []
        assert at(run, newest).exact
        resumed = resume(self.path)
        assert resumed.outcome == "finished"
        assert resumed.verify() == []
        assert at(resumed, 20).exact


WRITES = [2, *(pytest.param(write, marks=pytest.mark.slow) for write in (1, 3, 6, 9, 12, 15, 18))]


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("numbers", [(INT, INT), (TERM, INT)], ids=["interrupts", "termination, interrupt"])
def test_a_second_interrupt_inside_a_save_abandons_that_save_alone(tmp_path, numbers, write):
    save = SlowSave(tmp_path, 8, write, interrupted_at=0)
    assert save.send(numbers) < 3, "it does not wait for the save, which takes longer"
    save.require(newest=4)


@pytest.mark.parametrize("write", WRITES)
def test_a_second_interrupt_inside_the_last_save_abandons_that_save_alone(tmp_path, write):
    """The first was obeyed at step 6: its checkpoint is being written when the second comes."""
    save = SlowSave(tmp_path, 6, write, interrupted_at=6)
    assert save.send([INT]) < 3
    save.require(newest=4)


@pytest.mark.parametrize("write", [18, pytest.param(1, marks=pytest.mark.slow)])
def test_terminations_inside_a_save_wait_for_it(tmp_path, write):
    save = SlowSave(tmp_path, 8, write, interrupted_at=0)
    save.send([TERM, TERM])
    newest = Run.open(save.path).checkpoints[-1].step
    assert newest >= 8
    save.require(newest)
