"""Replay: re-enter a run at any step, bit for bit, and prove it at every step on the way."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar, overload

import pandas as pd
import torch
from torch import nn

from ontogeny.errors import BadContract, Diverged, NotReplayable
from ontogeny.record.digests import PACKED, ModelDigest
from ontogeny.record.environment import environment
from ontogeny.record.foreign import Advance, ForeignLoop
from ontogeny.record.restoring import earlier_checkpoint, restore, training_of
from ontogeny.record.training import Training
from ontogeny.store.checkpoint import Checkpoint
from ontogeny.store.run import Run
from ontogeny.vocabulary import Saveable

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


Loop = TypeVar("Loop", Training, ForeignLoop)


@dataclass
class Replayed(Generic[Loop]):
    """A training at the asked step, how it got there, and what was compared on the way."""

    training: Loop
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


@overload
def at(
    run: Run | Path | str,
    step: int,
    *,
    statistical: bool = False,
    start: Checkpoint | None = None,
    visit: Callable[[Training], None] = ...,
) -> Replayed[Training]: ...


@overload
def at(
    run: Run | Path | str,
    step: int,
    *,
    advance: Advance,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    parts: Mapping[str, Saveable] | None = None,
    batches: Callable[[int], Any] | None = None,
    statistical: bool = False,
    start: Checkpoint | None = None,
    visit: Callable[[ForeignLoop], None] = ...,
) -> Replayed[ForeignLoop]: ...


def at(
    run: Run | Path | str,
    step: int,
    *,
    statistical: bool = False,
    start: Checkpoint | None = None,
    visit: Callable[[Any], None] = lambda training: None,
    advance: Advance | None = None,
    **loop: Any,
) -> Replayed[Any]:
    """A run's training state at a step, replayed from the nearest earlier checkpoint.

    The model's digest is compared with the recorded one at every step. An exact replay raises Diverged at
    the first difference; a `statistical` one goes on and tells. `visit` sees the training at the start and
    after each step.

    A foreign loop is replayed by its own `advance`, on a fresh `model`, `optimizer` and `parts` built as they
    were for the Recorder; `batches` gives the batch of a step if the run has none on tape.

    Errors: NotReplayable (foreign loop without `advance`, other conditions, no checkpoint, a step whose batch
    or random numbers nobody kept).
    """
    if advance is None and loop:
        raise BadContract("parts of a foreign loop, and no advance to take its steps", received=sorted(loop))
    run = run if isinstance(run, Run) else Run.open(run)
    if not statistical:
        require_same_conditions(run)
    start = start or earlier_checkpoint(run, step)
    training: Any
    if advance is None:
        training = training_of(run)
        restore(training, start)
    else:
        training = ForeignLoop(run, advance, **loop)
        training.restore(start)
    return _followed(run, training, start.step, step, statistical, visit)


def _followed(
    run: Run, training: Any, start: int, step: int, statistical: bool, visit: Callable[[Any], None]
) -> Replayed[Any]:
    """Train on to a step, held against the record all the way."""
    record = _Record(run, training.model)
    if step > record.last and isinstance(training, ForeignLoop):
        raise NotReplayable(
            f"{run.path} was not recorded up to step {step}", allowed=f"steps up to {record.last}"
        )
    counters = training.state["counters"]
    difference, compared = record.difference(start), int(start in record.rows)
    visit(training)
    while counters.step < step and (difference is None or statistical):
        _take(training)
        difference = difference or record.difference(counters.step)
        compared += counters.step in record.rows
        if difference is None or statistical:
            visit(training)
    if difference is not None and not statistical:
        raise Diverged(
            f"the replay of {run.path} left the record",
            received=str(difference),
            allowed="the recorded bits at every step",
            remedy="the run is not exact on this machine; a statistical replay goes on all the same",
        )
    return Replayed(training, start, counters.step, compared, difference)


def _take(training: Training | ForeignLoop) -> None:
    """One step, counted."""
    if isinstance(training, ForeignLoop):
        training.step()
        return
    found, counters = training.step(), training.state["counters"]
    counters.step += 1
    counters.tokens += found.tokens
    counters.samples += found.samples
    counters.micro_batches += training.recipe.training.accumulation


class _Record:
    """The digests a run recorded, to hold a replay against."""

    def __init__(self, run: Run, model: nn.Module) -> None:
        self.digest = ModelDigest(model)
        checks = tuple(name for name in run.metrics if name.startswith("tensor_check/"))
        frame = run.telemetry("model_digest", *checks)
        frame = frame[frame["model_digest"].notna()].drop_duplicates("step", keep="last")
        # By column: a row of a mixed frame would be floats, and lose digits.
        columns = {name: frame[name].tolist() for name in ("model_digest", *checks)}
        self.rows = {
            int(step): {name: int(v[index]) for name, v in columns.items() if not pd.isna(v[index])}
            for index, step in enumerate(frame["step"].tolist())
        }
        self.last = max(self.rows, default=-1)
        self.checks = checks

    def difference(self, step: int) -> Difference | None:
        """Whether the model differs from the record of this step; a step without record is not compared."""
        row = self.rows.get(step)
        if row is None or row["model_digest"] == self.digest():
            return None
        mine, names, wrong = self.digest.checks(), self.digest.names, []
        for check in set(self.checks) & set(row) & set(mine):
            first = PACKED * int(check.rsplit("/", 1)[1])
            different = row[check] ^ mine[check]
            for k, name in enumerate(names[first : first + PACKED]):
                if different >> 16 * k & 0xFFFF:
                    wrong.append(name)
        return Difference(step, tuple(sorted(wrong, key=names.index)))
