"""Replay: re-enter a run at any step, bit for bit, and prove it at every step on the way."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ontogeny.errors import Diverged, NotReplayable
from ontogeny.record.digests import PACKED, ModelDigest
from ontogeny.record.environment import environment
from ontogeny.record.restoring import earlier_checkpoint, restore, training_of
from ontogeny.record.training import Training
from ontogeny.store.checkpoint import Checkpoint
from ontogeny.store.run import Run

#: What must be the same for equal bits, and is compared before anything is replayed.
DECISIVE = ("threads", "torch", "machine", "cpu_capability", "device", "deterministic", "cublas_workspace")


@dataclass(frozen=True)
class Difference:
    """The first step at which a replay left the record, and the tensors that differ there."""

    step: int
    tensors: tuple[str, ...]

    def __str__(self) -> str:
        named = ", ".join(self.tensors[:3]) + (" …" if len(self.tensors) > 3 else "")
        return f"step {self.step}: {named or 'the digest'}"


@dataclass
class Replayed:
    """A training at the asked step, how it got there, and what was compared on the way."""

    training: Training
    start: int
    step: int
    compared: int
    difference: Difference | None

    @property
    def exact(self) -> bool:
        """Whether every step that could be compared gave the recorded bits."""
        return self.difference is None and self.compared > 0


def other_conditions(run: Run) -> dict[str, tuple[Any, Any]]:
    """What of the present machine and settings differs from the recorded ones: name -> (recorded, now)."""
    recorded, now = run.identity.get("environment", {}), environment()
    return {
        name: (recorded[name], now[name])
        for name in DECISIVE
        if name in recorded and recorded[name] != now[name]
    }


def require_same_conditions(run: Run) -> None:
    """NotReplayable, with the reason, if equal bits cannot be expected here."""
    if different := other_conditions(run):
        said = "; ".join(f"{name} was {before!r}, is {now!r}" for name, (before, now) in different.items())
        raise NotReplayable(
            f"{run.path} cannot be replayed exactly here",
            received=said,
            allowed="the recorded conditions",
            remedy="set them alike (torch.set_num_threads, OMP_NUM_THREADS), or ask for a statistical replay",
        )


def at(
    run: Run | Path | str,
    step: int,
    *,
    statistical: bool = False,
    start: Checkpoint | None = None,
    visit: Callable[[Training], None] = lambda training: None,
) -> Replayed:
    """A run's training state at a step, replayed from the nearest earlier checkpoint.

    The model's digest is compared with the recorded one at every step. An exact replay raises Diverged at
    the first difference; a `statistical` one goes on and tells. `visit` sees the training at the start and
    after each step. Errors: NotReplayable (foreign loop, other conditions, no checkpoint).
    """
    run = run if isinstance(run, Run) else Run.open(run)
    if not statistical:
        require_same_conditions(run)
    start = start or earlier_checkpoint(run, step)
    training = training_of(run)
    restore(training, start)
    record = _Record(run, training)
    difference = record.difference(start.step)
    compared = 1
    visit(training)
    counters = training.state["counters"]
    while counters.step < step:
        found = training.step()
        counters.step += 1
        counters.tokens += found.tokens
        counters.samples += found.samples
        counters.micro_batches += training.recipe.training.accumulation
        difference = difference or record.difference(counters.step)
        compared += 1
        if difference is not None and not statistical:
            break
        visit(training)
    if difference is not None and not statistical:
        raise Diverged(
            f"the replay of {run.path} left the record",
            received=str(difference),
            allowed="the recorded bits at every step",
            remedy="the run is not exact on this machine; a statistical replay goes on all the same",
        )
    return Replayed(training, start.step, counters.step, compared, difference)


class _Record:
    """The digests a run recorded, to hold a replay against."""

    def __init__(self, run: Run, training: Training) -> None:
        self.digest = ModelDigest(training.model)
        checks = tuple(name for name in run.metrics if name.startswith("tensor_check/"))
        frame = run.telemetry("model_digest", *checks)
        frame = frame[frame["model_digest"].notna()].drop_duplicates("step", keep="last")
        # By column: a row of a mixed frame would be floats, and lose digits.
        columns = {name: frame[name].tolist() for name in ("model_digest", *checks)}
        self.rows = {
            int(step): {name: int(values[index]) for name, values in columns.items()}
            for index, step in enumerate(frame["step"].tolist())
        }
        self.checks = checks

    def difference(self, step: int) -> Difference | None:
        """Whether the model differs from the record of this step; a step without record is not compared."""
        row = self.rows.get(step)
        if row is None or row["model_digest"] == self.digest():
            return None
        mine, names, wrong = self.digest.checks(), self.digest.names, []
        for check in self.checks:
            first = PACKED * int(check.rsplit("/", 1)[1])
            different = row[check] ^ mine[check]
            for k, name in enumerate(names[first : first + PACKED]):
                if different >> 16 * k & 0xFFFF:
                    wrong.append(name)
        return Difference(step, tuple(wrong))
