"""The Recorder: watches any PyTorch training loop and writes a run. It changes nothing of what it watches.

recorder = Recorder("runs/mine", model, optimizer)
for batch in batches:
    ...                      # forward, backward, clip, optimizer.step(), as ever
    recorder.step(loss)
recorder.close()
"""

import os
import time
from collections.abc import Container, Mapping
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from ontogeny.errors import BadContract
from ontogeny.record.acting import acting
from ontogeny.record.background import BackgroundWriter
from ontogeny.record.digests import ModelDigest
from ontogeny.record.environment import environment
from ontogeny.record.foreign import Advance, repeated_grade, ungraded
from ontogeny.record.online import OnlineParts
from ontogeny.record.random_state import random_state
from ontogeny.record.saving import require_free_names, snapshot, state_content
from ontogeny.record.taping import Taping
from ontogeny.record.telemetry import StepTelemetry
from ontogeny.store.compaction import compact_journal
from ontogeny.store.journal import JournalWriter
from ontogeny.store.run import Run
from ontogeny.store.verification import TOKENIZER, file_hash
from ontogeny.vocabulary import Counters, Saveable, TrainingState


class _Forever(Container[int]):
    """The default schedule: 0, 1, 2, 4 … 512, then every 500; a foreign loop does not say where it ends."""

    def __contains__(self, step: object) -> bool:
        return isinstance(step, int) and (step & (step - 1) == 0 if step <= 512 else step % 500 == 0)


EVERY = _Forever()


class Recorder:
    """Writes telemetry at every step and checkpoints on a schedule.

    path         the run's folder; it must not hold a run yet
    checkpoints  which steps are kept; None keeps 0, 1, 2, 4 … 512 and then every 500
    parts        further saveable parts of the training state; `counters` replaces the recorder's own
    identity     anything to state in run.json (a config, a note)
    by_module    gradient norms and update ratios of every matrix, beside the totals
    keep_optimizer  whether checkpoints hold the optimizer's state
    tokenizer    anything with `save(folder)`; saved once, linked from every checkpoint
    resume       open the next attempt of a run that is there; the parts hold the state it is taken up with
    advance      `advance(state, batch)` takes one step of the loop on the parts of the state it is given, and
                 returns the mean loss; with it any step can be replayed
    tape         keep every batch, once, so that a replay needs none
    every        online instruments, each every so many steps: {"gradient_stability": 10}

    Errors: RunExists, NotWritable before anything is trained; DiskFull at the call that found it.
    """

    def __init__(
        self,
        path: Path | str,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        *,
        checkpoints: Container[int] | None = None,
        parts: Mapping[str, Saveable] | None = None,
        identity: Mapping[str, Any] | None = None,
        by_module: bool = True,
        keep_optimizer: bool = True,
        tokenizer: Any = None,
        resume: bool = False,
        advance: Advance | None = None,
        tape: bool = False,
        every: Mapping[str, int] | None = None,
    ) -> None:
        require_free_names(parts or {})
        self._online = OnlineParts(every or {})
        stated = _stated(identity or {}, model, ungraded(advance is not None, tape))
        self.run = Run.open(path) if resume else Run.create(path, stated)
        self.state = TrainingState(
            model=model, optimizer=optimizer, **{"counters": Counters(), **(parts or {})}
        )
        self.counters: Counters = self.state["counters"]
        self.checkpoints = EVERY if checkpoints is None else checkpoints
        self.keep_optimizer = keep_optimizer
        self._advance = advance
        self._writer = BackgroundWriter()
        self._taken: set[int] = set()
        self._closed = False
        self._pid = os.getpid()
        # What is open is closed in reverse, whatever fails on the way; the hold on the run goes last.
        with ExitStack() as opened:
            opened.enter_context(self.run.held())
            self._links = self._saved(tokenizer)
            self._taping = Taping(self.run, tape)
            opened.callback(self._taping.close)
            self.journal = JournalWriter(self.run.path / "journal" / f"{self.run.attempts:03d}.journal")
            opened.callback(self.journal.close)
            self._begin(opened, by_module)
            self._opened = opened.pop_all()

    def _begin(self, opened: ExitStack, by_module: bool) -> None:
        """The first record of the attempt, and its first checkpoint if one is due."""
        self.journal.note("begin", step=self.counters.step, environment=environment())
        model, optimizer = self.state["model"], self.state["optimizer"]
        self._digest = ModelDigest(model)
        self._telemetry = StepTelemetry(model, optimizer, by_module)
        opened.callback(self._telemetry.detach)
        opened.enter_context(self._online.watching(model, optimizer, lambda: self.counters.step))
        self._last = time.monotonic()
        self.log(model_digest=self._digest(), **self._digest.checks())
        if self.counters.step in self.checkpoints:
            self.checkpoint()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            stopped = "interrupted" if issubclass(kind, KeyboardInterrupt) else "failed"
            self.close(stopped, reason=f"{kind.__name__}: {error}")

    def advance(
        self, batch: Any, *, tokens: int = 0, samples: int = 0, micro_batches: int = 1, **more: Any
    ) -> Any:
        """Take and record the next step: `for batch in loader: recorder.advance(batch)`.

        What the step is given (the batch, where the global random generators stand) is kept first. Returns
        what `advance` returned, the mean loss. The counts and `more` are those of `step`. BadContract for a
        Recorder made without `advance`, or a batch of anything but tensors, numbers and text, however nested.
        """
        if self._advance is None:
            raise BadContract(
                "this Recorder does not know how to take a step",
                allowed="Recorder(…, advance=function of state and batch)",
                remedy="give it one, or take the step yourself and call recorder.step(loss)",
            )
        counts = {"tokens": tokens, "samples": samples, "micro_batches": micro_batches}
        self._taping.keep(self.counters.step + 1, batch, counts)
        loss = acting(self._advance)(self.state, batch)
        self._taping.settle()
        self.step(loss, **counts, **more)
        return loss

    def step(
        self,
        loss: Tensor | float,
        *,
        tokens: int = 0,
        samples: int = 0,
        micro_batches: int = 1,
        gradient_norm: Tensor | float | None = None,
        weight: float | None = None,
        **more: float | int | bool | str,
    ) -> None:
        """Record the optimizer step that was just taken; a checkpoint is taken if one is due.

        `loss` is the mean over `weight` items (tokens, by default); `gradient_norm` is the norm before
        clipping, which `clip_grad_norm_` returns. A step that the scaler skipped is recorded as not applied.
        """
        if os.getpid() != self._pid:  # a forked worker has no part in the run
            return
        self.counters.step += 1
        self.counters.tokens += tokens
        self.counters.samples += samples
        self.counters.micro_batches += micro_batches
        now, before = time.monotonic(), None if gradient_norm is None else float(gradient_norm)
        self._note_changes()
        digest, checks = self._digest.with_checks()
        record = {
            "loss": float(loss.detach()) if isinstance(loss, Tensor) else float(loss),
            "loss_weight": float(tokens if weight is None else weight),
            "tokens": self.counters.tokens,
            "step_seconds": now - self._last,
            **self._online.joined(self.counters.step, self._telemetry.take(before), self.note),
            "model_digest": digest,
            **checks,
            **more,
        }
        self.journal.append(self.counters.step, record, narrow=self._online.others(self._telemetry.narrow))
        if self.counters.step in self.checkpoints:
            self.checkpoint()
        self._last = time.monotonic()

    def _note_changes(self) -> None:
        """Record what came to be watched: materialised parameters, grown groups of the optimizer."""
        if self._telemetry.events:
            self._digest.renew()
            for kind, data in self._telemetry.events:
                self.note(kind, **data)
            self._telemetry.events.clear()
            self.run.update_identity(parameters=_count(self.state["model"]))

    def log(self, **values: float | int | bool | str | Tensor) -> None:
        """Record further named values at the current step."""
        plain = {name: _plain(name, value) for name, value in values.items()}
        self.journal.append(self.counters.step, plain)

    def note(self, kind: str, **data: Any) -> None:
        """Record an event at the current step, such as a text the model wrote."""
        self.journal.note(kind, step=self.counters.step, **data)

    def checkpoint(self) -> None:
        """Take a copy of the training state now; it is written in the background. What is there is kept."""
        if os.getpid() != self._pid:
            return
        step = self.counters.step
        tensors, documents = state_content(self.state, with_optimizer=self.keep_optimizer)
        documents["state"]["random"] = random_state()
        folder = self.run.path / "checkpoints" / f"{step:06d}"
        if step in self._taken or folder.exists():
            return
        self._taken.add(step)
        digest = f"{self._digest():016x}"
        self._writer.write(folder, step, snapshot(tensors), documents, self._links, model_digest=digest)

    def abandon(self) -> None:
        """Let go of the checkpoint that is being written; what was committed stays. For signal handlers."""
        self._writer.abandon()

    def close(self, outcome: str = "finished", reason: str = "") -> None:
        """Finish: the last checkpoint, the end of the attempt, compaction. May be called twice."""
        if self._closed or os.getpid() != self._pid:
            return
        self._closed = True
        self._telemetry.detach()
        with self._opened:
            try:
                self._finish(outcome)
            except BaseException as error:
                outcome = "interrupted" if isinstance(error, KeyboardInterrupt) else "failed"
                reason = reason or f"{type(error).__name__}: {error}"
                raise
            finally:
                self.journal.note("end", step=self.counters.step, outcome=outcome, reason=reason)
        for journal in self.run.journals:
            compact_journal(journal)

    def _finish(self, outcome: str) -> None:
        """What is in flight; and of a finished run the last checkpoint and the grade."""
        self._writer.finish()
        if outcome != "finished":
            return
        if not (self.run.path / "checkpoints" / f"{self.counters.step:06d}").exists():
            self.checkpoint()
            self._writer.finish()
        if self._advance is not None and self._taping.batches:
            self.run.update_identity(grade=asdict(repeated_grade(self.run, self._advance, self.state)))

    def _saved(self, tokenizer: Any) -> dict[str, str]:
        """Where each checkpoint finds the tokenizer's files, relative to itself."""
        folder = self.run.path / TOKENIZER
        if tokenizer is not None and not folder.exists():
            folder.mkdir()
            tokenizer.save(folder)
            hashes = {path.name: file_hash(path) for path in folder.glob("*.json")}
            self.run.update_identity(**{TOKENIZER: hashes})
        return {path.name: f"../../tokenizer/{path.name}" for path in sorted(folder.glob("*.json"))}


def _stated(identity: Mapping[str, Any], model: nn.Module, reason: str) -> dict[str, Any]:
    return {
        "grade": {"letter": "S", "reason": reason},
        **identity,
        "parameters": _count(model),
        "environment": environment(),
    }


def _count(model: nn.Module) -> int:
    """Numbers in the parameters that have any; tied ones count once."""
    return sum(parameter.numel() for parameter in model.parameters() if not is_lazy(parameter))


def _plain(name: str, value: Any) -> float | int | bool | str:
    if isinstance(value, Tensor):
        if value.numel() != 1:
            raise BadContract(
                f"recorder.log({name}=…) takes one number",
                received=f"a tensor of shape {tuple(value.shape)}",
                allowed="a number, text, or a tensor of one element",
            )
        return value.item()
    return value
