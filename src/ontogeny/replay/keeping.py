"""Which steps are kept on disk: fewer than were recorded, since replay restores them, or every one."""

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ontogeny.errors import Diverged
from ontogeny.record.digests import ModelDigest
from ontogeny.record.foreign import ForeignLoop
from ontogeny.record.saving import Documents, Tensors, state_content
from ontogeny.record.training import Training
from ontogeny.replay.replay import at
from ontogeny.store import files
from ontogeny.store.checkpoint import Checkpoint, write_checkpoint
from ontogeny.store.files import TEMPORARY, fsync_folder
from ontogeny.store.run import MANIFEST, Run
from ontogeny.vocabulary import digest


def needed_by_branches(run: Run) -> set[int]:
    """Steps at which runs beside this one were branched from it."""
    steps = set()
    for path in run.path.absolute().parent.glob(f"*/{MANIFEST}"):
        parent = Run.open(path.parent).identity.get("parent", {})
        if parent.get("run") == run.id:
            steps.add(int(parent["step"]))
    return steps


def thin(run: Run, keep: int, done: Callable[[int], None] = lambda step: None, **loop: Any) -> list[int]:
    """Drop checkpoints until `keep` are left (first and last, and any that a branch needs, always are).

    Each one is dropped only after a replay from the checkpoint before has given its whole state back, bit for
    bit. Returns the dropped steps. Diverged, with nothing dropped from there on, if a replay does not.
    A foreign loop needs `loop`: what `replay.at` takes of it (advance, model, optimizer, parts, batches).
    """
    found = run.checkpoints
    forks = needed_by_branches(run)
    kept = [c for i, c in enumerate(found) if i in _spread(len(found), keep) or c.step in forks]
    kept_steps = {c.step for c in kept}
    dropped = []
    with run.held():
        for checkpoint, after in zip(kept, [*kept[1:], None], strict=True):
            inside = [
                c
                for c in found
                if c.step > checkpoint.step
                and (after is None or c.step < after.step)
                and c.step not in kept_steps
            ]
            if not inside:
                continue
            wanted = {c.step: c for c in inside}

            def check(training: Training | ForeignLoop, wanted: Mapping[int, Checkpoint] = wanted) -> None:
                step = training.state["counters"].step
                if step in wanted:
                    _require_same_state(training, wanted[step])

            at(run, inside[-1].step, start=checkpoint, visit=check, **loop)
            for one in inside:
                _remove(one.folder)
                dropped.append(one.step)
                done(one.step)
    return dropped


def _spread(count: int, keep: int) -> set[int]:
    keep = max(2, min(keep, count))
    return {round(index * (count - 1) / (keep - 1)) for index in range(keep)}


def _content(training: Training | ForeignLoop) -> tuple[dict[str, Tensors], Documents]:
    return training.content() if isinstance(training, ForeignLoop) else state_content(training.state)


def _require_same_state(training: Training | ForeignLoop, checkpoint: Checkpoint) -> None:
    """Diverged unless every tensor and every value of the checkpoint is what the replay has."""
    tensors, documents = _content(training)
    differing = [
        f"{group} tensor {name}"
        for group, entries in checkpoint.manifest.tensors.items()
        for name, entry in entries.items()
        if name not in tensors.get(group, {}) or f"{digest([tensors[group][name]]):016x}" != entry.hash
    ]
    here, there = documents["state"], dict(checkpoint.document("state"))
    if not isinstance(training, ForeignLoop):  # a recipe's numbers come from its streams, never from these
        there.pop("random", None)
    differing += [f"state {name}" for name in there if _written(here.get(name)) != _written(there[name])]
    if differing:
        raise Diverged(
            f"checkpoint {checkpoint.step} is not what a replay gives",
            received=", ".join(differing[:3]),
            remedy="it is kept; this run cannot be thinned",
        )


def _written(value: Any) -> str:
    """Equal texts for what would be read back as equal values; NaN is equal to itself."""
    return json.dumps(value, sort_keys=True)


def _remove(folder: Path) -> None:
    """First out of sight, then gone: a crash leaves a whole checkpoint or none."""
    doomed = folder.with_name(f".{folder.name}.thinned{TEMPORARY}")
    files.raw_rename(folder, doomed)
    fsync_folder(doomed.parent)
    shutil.rmtree(doomed)


def materialise(
    run: Run, first: int, last: int, done: Callable[[int], None] = lambda step: None, **loop: Any
) -> Sequence[int]:
    """Write a checkpoint of every step of an interval, replayed and compared; returns the steps written.

    `loop` as in `thin`.
    """
    written = []

    def keep(training: Training | ForeignLoop) -> None:
        step = training.state["counters"].step
        folder = run.path / "checkpoints" / f"{step:06d}"
        if step < first or folder.exists():
            return
        tensors, documents = _content(training)
        seen = f"{ModelDigest(training.model)():016x}"
        write_checkpoint(
            folder, tensors=tensors, documents=documents, step=step, metadata={"model_digest": seen}
        )
        written.append(step)
        done(step)

    with run.held():
        at(run, last, start=None if first == last else _before(run, first), visit=keep, **loop)
    return written


def _before(run: Run, step: int) -> Checkpoint:
    return [c for c in run.checkpoints if c.step <= step][-1]
