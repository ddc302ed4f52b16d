"""Loops of other people, re-entered: a step is the user's own function, given what it was given before."""

import copy
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from ontogeny.errors import NotReplayable, OntogenyError
from ontogeny.record.acting import acting
from ontogeny.record.digests import ModelDigest, persistent_tensors
from ontogeny.record.grade import STEPS, Grade, compared
from ontogeny.record.random_state import RandomState, undisturbed
from ontogeny.record.restoring import recorded_interventions, restore_state
from ontogeny.record.saving import (
    Documents,
    Tensors,
    optimizer_by_name,
    snapshot,
    split_tensors,
    state_content,
)
from ontogeny.record.taping import Advance, Given, batch_digest, given
from ontogeny.store.checkpoint import Checkpoint
from ontogeny.store.run import Run
from ontogeny.store.tape import Tape
from ontogeny.vocabulary import Counters, Saveable, TrainingState


class ForeignLoop:
    """A loop that was recorded with `recorder.advance`, at some step; it leaves the global generators alone.

    The interventions of the run, if it is a branch, act in it as they did. `batches` gives the batch of a
    step where the tape holds none; it must be the one that was trained on.
    """

    def __init__(
        self,
        run: Run,
        advance: Advance,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        parts: Mapping[str, Saveable] | None = None,
        batches: Callable[[int], Any] | None = None,
    ) -> None:
        self.run, self.model, self.optimizer = run, model, optimizer
        self.state = TrainingState(
            model=model, optimizer=optimizer, **{"counters": Counters(), **(parts or {})}
        )
        for number, made in enumerate(recorded_interventions(run.identity.get("interventions", ()))):
            self.state[f"intervention{number}"] = made
        self.advance, self._batches = acting(advance), batches
        self._tape = Tape(run.path / "tape")
        self._random = RandomState()

    def restore(self, checkpoint: Checkpoint) -> None:
        """Take up the state and the random numbers of a checkpoint; the errors of `restore_state`."""
        restore_state(self.state, checkpoint)
        self._random = RandomState.of(checkpoint.document("state")["random"])

    def content(self) -> tuple[dict[str, Tensors], Documents]:
        """Everything a checkpoint of this step holds, its random numbers included."""
        tensors, documents = state_content(self.state)
        documents["state"]["random"] = self._random.document()
        return tensors, documents

    def step(self) -> Any:
        """Take the next step with what it was given, and count it; returns what `advance` returned.

        NotReplayable if the tape does not say what that was, or the batch is not the same.
        """
        with undisturbed():
            batch, counts = self.prepare()
            loss = self.advance(self.state, batch)
            self.settle()
        counters = self.state["counters"]
        counters.step += 1
        for name, count in counts.items():
            setattr(counters, name, getattr(counters, name) + count)
        return loss

    def prepare(self) -> tuple[Any, Mapping[str, int]]:
        """The next step's batch and counts; the global generators are put where they stood before it."""
        step = self.state["counters"].step + 1
        found = self._given(step)
        batch = self._batch(step, found)
        self._random.put_back()
        found.random.put_back()
        return batch, found.counts

    def settle(self) -> None:
        """After a step: where the global generators stand now is where the next one begins."""
        self._random = RandomState.now()

    def _given(self, step: int) -> Given:
        found = given(self._tape, step)
        if found is None:
            raise NotReplayable(
                f"nothing tells what step {step} of {self.run.path} was given",
                received="a step that is not on the run's tape",
                allowed="steps taken with recorder.advance(batch)",
                remedy="recorder.step(loss) records a step and keeps nothing to repeat it from",
            )
        return found

    def _batch(self, step: int, found: Given) -> Any:
        if found.has_batch:
            return found.batch
        if self._batches is None:
            raise NotReplayable(
                f"the batch of step {step} of {self.run.path} was not kept",
                allowed="batches=function from step to batch",
                remedy="give one, or record with tape=True",
            )
        batch = self._batches(step)
        if batch_digest(batch) != found.batch_digest:
            raise NotReplayable(
                f"the batch given for step {step} is not the one that {self.run.path} was trained on",
                received=batch_digest(batch),
                allowed=found.batch_digest,
            )
        return batch


def ungraded(advance: bool, tape: bool) -> str:
    """Why a foreign loop has grade S, as long as nothing has been repeated."""
    if not advance:
        return "a foreign loop: its steps cannot be repeated by themselves"
    if not tape:
        return "a foreign loop whose batches are not on tape: its steps cannot be repeated by themselves"
    return "a foreign loop whose first steps have not been repeated"


def repeated_grade(run: Run, advance: Advance, state: TrainingState) -> Grade:
    """The grade of a loop with a tape, by repeating its first steps in this process on copies of its parts.

    D at best: deterministic here, which a process that is already warm can tell; E needs a fresh one. If
    `advance` reaches for the original parts, they are put back as they were, and the grade is S.
    """
    first = [checkpoint for checkpoint in run.checkpoints if checkpoint.step == 0]
    steps = min(STEPS, state["counters"].step)
    if not first or not steps:
        return Grade("S", "a foreign loop without a step after a checkpoint at step 0: nothing to repeat")
    digest, random = ModelDigest(state["model"]), RandomState.now()
    before, kept = digest(), snapshot({"live": _live(state)})["live"]
    found, failure = [], ""
    try:
        with warnings.catch_warnings():  # torch's schedules complain of a copied optimizer
            warnings.simplefilter("ignore")
            copies = copy.deepcopy({name: state[name] for name in state})
            loop = ForeignLoop(run, advance, copies.pop("model"), copies.pop("optimizer"), copies)
            loop.restore(first[0])
            found = _digests(loop, steps)
    except Exception as error:  # a loop of somebody else's may fail in any way
        failure = error.what if isinstance(error, OntogenyError) else f"{type(error).__name__}: {error}"
    finally:
        random.put_back()
    if digest() != before:
        for name, tensor in _live(state).items():
            tensor.copy_(kept[name])
        return Grade("S", "advance acts on other parts than those of the state it is given")
    if failure:
        return Grade("S", f"the first steps could not be repeated: {failure}")
    return _named(compared(run, found), steps)


def _live(state: TrainingState) -> dict[str, Tensor]:
    """The tensors of model and optimizer themselves, not copies of them."""
    tensors = persistent_tensors(state["model"])
    split_tensors(optimizer_by_name(state["optimizer"], state["model"]), "optimizer", tensors)
    return tensors


def _digests(loop: ForeignLoop, steps: int) -> list[int]:
    digest, found = ModelDigest(loop.model), []
    for _ in range(steps):
        loop.step()
        found.append(digest())
    return found


def _named(grade: Grade, steps: int) -> Grade:
    if grade.letter != "E":
        return Grade("S", grade.reason.replace("in a fresh process", "in the same process"))
    where = f"torch {torch.__version__}, {torch.get_num_threads()} threads"
    return Grade(
        "D",
        f"deterministic on this device: the first {steps} steps, repeated on copies in the same "
        f"process ({where}), gave the same bits",
    )
