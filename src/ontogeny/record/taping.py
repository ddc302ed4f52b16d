"""What each step of a loop is given, put on tape before the step is taken."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import xxhash
from torch import Tensor

from ontogeny.record.random_state import RandomState
from ontogeny.record.saving import Tensors, join_tensors, split_tensors
from ontogeny.store.documents import json_bytes
from ontogeny.store.run import Run
from ontogeny.store.tape import Tape, TapeWriter
from ontogeny.vocabulary import TrainingState, digest

#: Takes one optimizer step on the parts of a state, given a batch; returns the mean loss.
Advance = Callable[[TrainingState, Any], Any]


class Given(NamedTuple):
    """What a step was given. `batch` is absent from a tape without batches; `random` holds the generators
    that something outside of the step had moved since the step before, such as a loader that shuffles."""

    batch_digest: str
    batch: Any
    has_batch: bool
    counts: Mapping[str, int]
    random: RandomState


class Taping:
    """Keeps what the steps of a run are given; the tape begins with the first of them."""

    def __init__(self, run: Run, batches: bool) -> None:
        self.batches = batches
        self._tape = TapeWriter(run.path / "tape", run.attempts)
        self._settled: RandomState | None = None

    def keep(self, step: int, batch: Any, counts: Mapping[str, int]) -> None:
        """Before a step: its batch, or only the batch's digest, and what moved the generators meanwhile."""
        tensors: Tensors = {}
        structure = split_tensors(batch, "batch", tensors)
        now = RandomState.now()
        moved = now if self._settled is None else now.changes_since(self._settled)
        document = {"digest": _digest(structure, tensors), "counts": dict(counts), "random": moved.document()}
        if self.batches:
            self._tape.append(step, {**document, "batch": structure}, tensors)
        else:
            self._tape.append(step, document, {})

    def settle(self) -> None:
        """After a step: from here on, whatever moves the generators does not belong to it."""
        self._settled = RandomState.now()

    def close(self) -> None:
        """Make the tape durable."""
        self._tape.close()


def given(tape: Tape, step: int) -> Given | None:
    """What a step was given; None if the tape does not hold it. Raises Damaged."""
    found = tape.read(step)
    if found is None:
        return None
    document, tensors = found
    batch = join_tensors(document["batch"], tensors) if "batch" in document else None
    random = RandomState.of(document["random"])
    return Given(document["digest"], batch, "batch" in document, document["counts"], random)


def batch_digest(batch: Any) -> str:
    """Sixteen hex digits: equal for equal bits in an equal nesting."""
    tensors: dict[str, Tensor] = {}
    return _digest(split_tensors(batch, "batch", tensors), tensors)


def _digest(structure: Any, tensors: Mapping[str, Tensor]) -> str:
    state = xxhash.xxh3_64(json_bytes(structure, indent=None))
    state.update(digest(list(tensors.values())).to_bytes(8, "little"))
    return state.hexdigest()
