"""Branch: a run that begins at a step of another and goes another way; the cause is the only difference."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ontogeny.errors import BadContract
from ontogeny.record.digests import ModelDigest
from ontogeny.record.grade import Grade
from ontogeny.record.recorder import Recorder
from ontogeny.record.restoring import recorded_interventions, restore
from ontogeny.record.saving import state_content
from ontogeny.record.train import Progress, carry_on, planned_end, recorder_of, run_identity
from ontogeny.record.training import Training
from ontogeny.replay import at as replay_at
from ontogeny.store.checkpoint import open_checkpoint, write_checkpoint
from ontogeny.store.run import MANIFEST, Run


def branch(
    run: Run | Path | str,
    *,
    at: int,
    apply: Sequence[str],
    out: Path | str,
    end: int | None = None,
    until: int | None = None,
    sham: bool = False,
    progress: Progress = lambda step, found: None,
) -> Run:
    """Replay a run to step `at`, apply interventions there until `end`, and go on to `until`.

    apply   texts such as "weight_decay(value=0)"; several act in this order
    end     the step from which they act no more (None: to the last)
    until   the last step (None: the parent's)
    sham    the same path with the same writes, and no effect: equals the parent bit for bit

    The branch keeps the parent's recipe, draws and random streams, and owns a copy of the fork's checkpoint.
    It earns the parent's grade if the replay was exact up to the fork. Errors: those of replay, UnknownName
    and BadContract for interventions, RunExists.
    """
    parent = run if isinstance(run, Run) else Run.open(run)
    last = until or planned_end(parent)
    if not at < last or (end is not None and not at < end):
        raise BadContract("a branch that ends before it begins", received=f"at {at}, end {end}, until {last}")
    entries = [
        *parent.identity.get("interventions", ()),
        *({"spec": spec, "start": at, "end": end, "sham": sham} for spec in apply),
    ]
    recorded_interventions(entries)
    fork = replay_at(parent, at).training
    cause = ", ".join(apply) or "unchanged"
    identity = {
        **run_identity(fork),
        "title": f"{parent.name} from step {at}: {cause}{' (sham)' if sham else ''}",
        "parent": {"run": parent.id, "name": parent.name, "step": at},
        "interventions": entries,
        "until": last,
        "grade": _grade(parent, at),
    }
    made = Run.create(out, identity | _environment(parent))
    folder = made.path / "checkpoints" / f"{at:06d}"
    tensors, documents = state_content(fork.state)
    seen = f"{ModelDigest(fork.model)():016x}"
    write_checkpoint(folder, tensors=tensors, documents=documents, step=at, metadata={"model_digest": seen})
    training = Training(fork.recipe, fork.objective, recorded_interventions(entries))
    restore(training, open_checkpoint(folder))
    with _recorder(training, made) as recorder:
        carry_on(training, recorder, last, progress)
    return Run.open(made.path)


def _recorder(training: Training, run: Run) -> Recorder:
    return recorder_of(training, run.path, {}, resume=True)


def _environment(parent: Run) -> dict[str, Any]:
    return {key: parent.identity[key] for key in ("environment", "parameters") if key in parent.identity}


def _grade(parent: Run, step: int) -> Mapping[str, Any]:
    if parent.grade == "E":
        return asdict(Grade("E", f"replayed from {parent.name} with equal bits up to step {step}"))
    return asdict(Grade("S", f"its parent {parent.name} has grade {parent.grade}"))


def family(path: Path | str) -> dict[str, list[tuple[Run, int]]]:
    """Runs of a folder by their parent's id ("" for roots): (run, step of the fork), ordered by fork."""
    found: dict[str, list[tuple[Run, int]]] = {}
    for manifest in sorted(Path(path).glob(f"*/{MANIFEST}")):
        run = Run.open(manifest.parent)
        parent = run.identity.get("parent", {})
        found.setdefault(parent.get("run", ""), []).append((run, int(parent.get("step", 0))))
    for children in found.values():
        children.sort(key=lambda pair: (pair[1], pair[0].name))
    return found
