"""Branch: a run that begins at a step of another and goes another way; the cause is the only difference."""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from torch import nn

from ontogeny.errors import BadContract, NotReplayable
from ontogeny.record.acting import interventions_of, require_reachable
from ontogeny.record.digests import ModelDigest
from ontogeny.record.foreign import Advance, ForeignLoop
from ontogeny.record.grade import Grade
from ontogeny.record.random_state import undisturbed
from ontogeny.record.recorder import Recorder
from ontogeny.record.restoring import recorded_interventions, restore
from ontogeny.record.saving import Documents, Tensors, state_content
from ontogeny.record.train import carry_on, planned_end, recorder_of, run_identity
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
    progress: Callable[[int, Any], None] = lambda step, found: None,
    advance: Advance | None = None,
    **loop: Any,
) -> Run:
    """Replay a run to step `at`, apply interventions there until `end`, and go on to `until`.

    apply   texts such as "weight_decay(value=0)"; several act in this order
    end     the step from which they act no more (None: to the last)
    until   the last step (None: the parent's)
    sham    the same path with the same writes, and no effect: equals the parent bit for bit

    The branch keeps the parent's recipe, draws and random streams, and owns a copy of the fork's checkpoint.
    It earns the parent's grade if the replay was exact up to the fork. Errors: those of replay, UnknownName
    and BadContract for interventions, RunExists.

    A foreign loop is branched with what `replay.at` takes of it (advance, model, optimizer, parts, batches),
    and `checkpoints` as for a Recorder. It goes on with the batches and random numbers of the parent's tape,
    at most to its last step, and has a tape of its own. Interventions act around `advance` and around its
    optimizer's step (see `record.acting`); BadContract for those that act on draws, forward passes or
    schedules, which are inside of the loop. `progress` hears what `advance` returned.
    """
    parent = run if isinstance(run, Run) else Run.open(run)
    asked = _Asked(at, apply, Path(out), end, until, sham)
    if advance is not None:
        return _loop_branch(parent, asked, progress, advance, **loop)
    if loop:
        raise BadContract("parts of a foreign loop, and no advance to take its steps", received=sorted(loop))
    return _recipe_branch(parent, asked, progress)


class _Asked(NamedTuple):
    """What branch was asked for."""

    at: int
    apply: Sequence[str]
    out: Path
    end: int | None
    until: int | None
    sham: bool


def _recipe_branch(parent: Run, asked: _Asked, progress: Callable[[int, Any], None]) -> Run:
    last = asked.until or planned_end(parent)
    entries = _entries(parent, asked, asked.end, last)
    fork = replay_at(parent, asked.at).training
    identity = {**run_identity(fork), **_descent(parent, asked, last, entries)}
    made = Run.create(asked.out, identity | _environment(parent))
    folder = _keep_fork(made, asked.at, fork.model, state_content(fork.state))
    training = Training(fork.recipe, fork.objective, recorded_interventions(entries))
    restore(training, open_checkpoint(folder))
    with recorder_of(training, made.path, {}, resume=True) as recorder:
        carry_on(training, recorder, last, progress)
    return Run.open(made.path)


def _loop_branch(
    parent: Run,
    asked: _Asked,
    progress: Callable[[int, Any], None],
    advance: Advance,
    checkpoints: Container[int] | None = None,
    **loop: Any,
) -> Run:
    recorded = int(parent.telemetry("model_digest")["step"].max())
    last = asked.until or recorded
    if last > recorded:
        raise NotReplayable(
            f"the tape of {parent.path} ends", received=f"until {last}", allowed=f"steps up to {recorded}"
        )
    # A window that is open in a recipe ends with the tape here: nobody else says how long the loop is.
    entries = _entries(parent, asked, last if asked.end is None else asked.end, last)
    added = recorded_interventions(entries[len(parent.identity.get("interventions", ())) :])
    require_reachable(added)
    fork = replay_at(parent, asked.at, advance=advance, **loop).training
    identity = _descent(parent, asked, last, entries)
    made = Run.create(asked.out, identity | _environment(parent))
    _keep_fork(made, asked.at, fork.model, fork.content())
    for number, one in enumerate(added, start=len(entries) - len(added)):
        fork.state[f"intervention{number}"] = one
    parts = {name: part for name, part in fork.state.items() if name not in ("model", "optimizer")}
    options: dict[str, Any] = {"checkpoints": checkpoints, "parts": parts, "resume": True}
    with (
        undisturbed(),
        Recorder(made.path, fork.model, fork.optimizer, advance=advance, tape=True, **options) as recorder,
    ):
        _carry_on_tape(fork, recorder, last, progress)
    made = Run.open(made.path)
    made.update_identity(grade=identity["grade"])
    return made


def _carry_on_tape(
    fork: ForeignLoop, recorder: Recorder, last: int, progress: Callable[[int, Any], None]
) -> None:
    """Take and record the steps that the parent's tape holds, until the last or until a policy stops."""
    while recorder.counters.step < last:
        batch, counts = fork.prepare()
        loss = recorder.advance(batch, **counts)
        fork.settle()
        progress(recorder.counters.step, loss)
        if reason := next((made.stop for made in interventions_of(fork.state) if made.stop), ""):
            recorder.note("stopped", reason=reason)
            return


def _entries(parent: Run, asked: _Asked, end: int | None, last: int) -> list[dict[str, Any]]:
    """The interventions of a branch as its identity lists them, the parent's first; all can be made."""
    at = asked.at
    if not at < last or (end is not None and not at < end):
        raise BadContract("a branch that ends before it begins", received=f"at {at}, end {end}, until {last}")
    entries = [
        *parent.identity.get("interventions", ()),
        *({"spec": spec, "start": at, "end": end, "sham": asked.sham} for spec in asked.apply),
    ]
    recorded_interventions(entries)
    return entries


def _descent(parent: Run, asked: _Asked, last: int, entries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What `run.json` says of where a branch comes from."""
    cause = ", ".join(asked.apply) or "unchanged"
    return {
        "title": f"{parent.name} from step {asked.at}: {cause}{' (sham)' if asked.sham else ''}",
        "parent": {"run": parent.id, "name": parent.name, "step": asked.at},
        "interventions": list(entries),
        "until": last,
        "grade": _grade(parent, asked.at),
    }


def _keep_fork(made: Run, at: int, model: nn.Module, content: tuple[dict[str, Tensors], Documents]) -> Path:
    """The branch's own copy of the state it begins with."""
    folder = made.path / "checkpoints" / f"{at:06d}"
    seen = f"{ModelDigest(model)():016x}"
    tensors, documents = content
    write_checkpoint(folder, tensors=tensors, documents=documents, step=at, metadata={"model_digest": seen})
    return folder


def _environment(parent: Run) -> dict[str, Any]:
    return {key: parent.identity[key] for key in ("environment", "parameters") if key in parent.identity}


def _grade(parent: Run, step: int) -> Mapping[str, Any]:
    if parent.grade in ("E", "D"):
        return asdict(Grade(parent.grade, f"replayed from {parent.name} with equal bits up to step {step}"))
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
