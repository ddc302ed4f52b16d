"""How exactly a run can be repeated, earned by repeating its first steps in a fresh process.

E  exact: the repeated steps gave the same digests, bit for bit
D  deterministic on this device: the same, but repeated in the process that trains (loops of other people)
S  statistical: they did not, or nothing could be repeated; the reason says which

Run as `python -m ontogeny.record.grade RUN STEPS`, it prints the digests of a run's first steps.
"""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import torch

from ontogeny.record.digests import ModelDigest
from ontogeny.record.restoring import training_of
from ontogeny.store.run import Run

STEPS = 3


@dataclass(frozen=True)
class Grade:
    """A letter, and why."""

    letter: str
    reason: str


def first_digests(run: Run, steps: int) -> list[int]:
    """The model's digest after each of a run's first steps, trained from scratch from its recipe."""
    training = training_of(run)
    digest = ModelDigest(training.model)
    found = []
    for _ in range(steps):
        training.step()
        training.state["counters"].step += 1
        found.append(digest())
    return found


class Repetition:
    """The first steps of a run, repeated by another process while training goes on."""

    def __init__(self, run: Run, steps: int) -> None:
        self.run, self.steps = run, min(STEPS, steps)
        command = [sys.executable, "-m", "ontogeny.record.grade", str(run.path), str(self.steps)]
        environment = {**os.environ, "OMP_NUM_THREADS": str(torch.get_num_threads())}
        self.process = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def grade(self) -> Grade:
        """Compare with what the journal holds; waits for the process."""
        try:
            output, complaint = self.process.communicate(timeout=600)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return Grade("S", "repeating the first steps took more than ten minutes")
        if self.process.returncode:
            last = (complaint.strip().splitlines() or ["no message"])[-1]
            return Grade("S", f"the first steps could not be repeated: {last}")
        return compared(self.run, [int(word) for word in output.split()])

    def stop(self) -> None:
        """Give up; the run keeps the grade it had."""
        self.process.kill()
        self.process.communicate()


def compared(run: Run, repeated: list[int]) -> Grade:
    """The grade that repeated digests earn."""
    recorded = run.telemetry("model_digest").set_index("step")["model_digest"]
    for step, digest in enumerate(repeated, start=1):
        if int(recorded[step]) != digest:
            return Grade("S", f"repeated in a fresh process, step {step} gave other bits")
    return Grade("E", f"the first {len(repeated)} steps, repeated in a fresh process, gave the same bits")


if __name__ == "__main__":
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS") or 1))
    print(*first_digests(Run.open(Path(sys.argv[1])), int(sys.argv[2])))
