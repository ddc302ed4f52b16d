"""Train a recipe, recorded from its first step to its last; take a stopped run up again."""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ontogeny.errors import NonfiniteLoss, NotReplayable
from ontogeny.record.estimate import Estimate, estimate, require_space
from ontogeny.record.grade import Repetition
from ontogeny.record.recipe import Recipe
from ontogeny.record.recorder import Recorder
from ontogeny.record.restoring import earlier_checkpoint, recorded_interventions, restore, training_of
from ontogeny.record.stopping import StopRequest, stop_requests
from ontogeny.record.training import Step, Training, objective_of
from ontogeny.sources import Mixture, TokenSource
from ontogeny.store.run import Run

Progress = Callable[[int, Step], None]


class Stopped(KeyboardInterrupt):
    """A signal asked the run to stop; it committed the step it was at, and can be resumed."""


def train(
    recipe: Recipe,
    path: Path | str,
    *,
    interventions: Sequence[Mapping[str, Any]] = (),
    begin: Callable[[Estimate], None] = lambda estimate: None,
    progress: Progress = lambda step, found: None,
    grade: bool = True,
) -> Run:
    """Train and record one run; returns it finished.

    `interventions` are entries {"spec": "name(parameter=value)", "start": step, "end": step or None} and
    become part of the run's identity. `begin` hears the estimate before the first step, `progress` every
    step. `grade=False` leaves out the repetition of the first steps in a fresh process: grade S.

    SIGTERM and SIGINT are obeyed at the next step boundary: a checkpoint is committed and Stopped is raised.
    Errors: RunExists, NotWritable, DiskFull before anything is trained; NonfiniteLoss where the recipe's
    policy is to stop (the run stays readable and holds the step).
    """
    path = Path(path)
    objective = objective_of(recipe, path)
    training = Training(recipe, objective, recorded_interventions(interventions))
    found = estimate(Training(recipe, objective))
    require_space(found, path)
    begin(found)
    identity = {**run_identity(training), "interventions": list(interventions)}
    with recorder_of(training, path, identity) as recorder:
        repetition = Repetition(recorder.run, recipe.training.steps) if grade else None
        try:
            carry_on(training, recorder, recipe.training.steps, progress)
        except BaseException:
            if repetition is not None:
                repetition.stop()
            raise
        if repetition is not None:
            recorder.run.update_identity(grade=asdict(repetition.grade()))
    return Run.open(path)


def resume(path: Path | str, *, progress: Progress = lambda step, found: None) -> Run:
    """Take a run up from its last whole checkpoint, in a new attempt, to its planned end; bit for bit what an
    uninterrupted run would have been. A finished run is returned as it is."""
    run = Run.open(path)
    if run.outcome == "finished":
        return run
    training = training_of(run)
    restore(training, earlier_checkpoint(run, planned_end(run)))
    with recorder_of(training, run.path, {}, resume=True) as recorder:
        carry_on(training, recorder, planned_end(run), progress)
    return Run.open(path)


def planned_end(run: Run) -> int:
    """The step at which a run is finished."""
    steps = run.identity.get("until") or run.identity.get("recipe", {}).get("training", {}).get("steps")
    if steps is None:
        raise NotReplayable(
            f"{run.path} does not say where it ends: it is not a run of a recipe",
            remedy="branch a foreign loop with its advance, model and optimizer",
        )
    return int(steps)


def run_identity(training: Training) -> dict[str, Any]:
    """What `run.json` says of a recipe's run."""
    recipe, objective = training.recipe, training.objective
    return {
        "recipe": recipe.document(),
        "recipe_hash": recipe.hash,
        "title": recipe.title,
        "sources": _sources(objective),
        "vocabulary": objective.vocabulary,
        "context": objective.context,
        "steps": recipe.training.steps,
        "grade": {"letter": "S", "reason": "its first steps have not been repeated"},
    }


def recorder_of(
    training: Training, path: Path, identity: Mapping[str, Any], resume: bool = False
) -> Recorder:
    """A Recorder over a training's state, with the recipe's schedule of checkpoints."""
    recording = training.recipe.recording
    return Recorder(
        path,
        training.model,
        training.optimizer,
        checkpoints=recording.scheduled(training.recipe.training.steps),
        parts={name: part for name, part in training.state.items() if name not in ("model", "optimizer")},
        identity=identity,
        keep_optimizer=recording.keep_optimizer,
        tokenizer=getattr(getattr(training.objective, "corpus", None), "tokenizer", None),
        resume=resume,
    )


def _sources(objective: Any) -> dict[str, Any]:
    source = getattr(objective, "corpus", None)
    if source is None:
        return {}
    if not isinstance(source, Mixture):
        return _source(source)
    parts = zip(source.names, source.weights, source.sources, strict=True)
    return {
        **_source(source),
        "encoding": source.encoding,
        "mixture": [{**_source(one), "corpus": name, "weight": weight} for name, weight, one in parts],
    }


def _source(source: TokenSource | Mixture) -> dict[str, Any]:
    return {
        "corpus": source.name,
        "corpus_hash": source.corpus_hash,
        "tokens_hash": source.hash,
        "split": source.split,
        "notes": list(source.notes),
    }


def carry_on(training: Training, recorder: Recorder, until: int, progress: Progress) -> None:
    """Train from wherever the state is to step `until`, recording every step."""
    with stop_requests(recorder.abandon) as request:
        if recorder.counters.step in recorder.checkpoints:
            _look(training, recorder)
        _obey(request, recorder)
        while recorder.counters.step < until:
            found = training.step()
            record_step(training, recorder, found)
            if recorder.counters.step in recorder.checkpoints:
                _look(training, recorder)
            progress(recorder.counters.step, found)
            _obey(request, recorder)
            if reason := training.asked_to_stop():
                recorder.note("stopped", reason=reason)
                return


def record_step(training: Training, recorder: Recorder, found: Step) -> None:
    """Record a step; a loss that is not finite is noted, and stops the run where the recipe says so."""
    recorder.step(
        found.loss,
        tokens=found.tokens,
        samples=found.samples,
        micro_batches=training.recipe.training.accumulation,
        gradient_norm=found.gradient_norm,
        weight=found.weight,
        draw=found.draw,
        **found.more,
    )
    if not math.isfinite(found.loss):
        _nonfinite(training, recorder, found)


def _obey(request: StopRequest, recorder: Recorder) -> None:
    if request.signal is not None:
        recorder.checkpoint()
        raise Stopped(f"signal {request.signal} at step {recorder.counters.step}")


def _look(training: Training, recorder: Recorder) -> None:
    """What goes with a checkpoint: the held-out loss, and what the model writes."""
    recording = training.recipe.recording
    if recording.evaluate:
        recorder.log(**training.evaluate(recording.evaluate))
    if recording.samples:
        for text in training.samples(recording.samples, recording.sample_length):
            recorder.note("sample", text=text)


def _nonfinite(training: Training, recorder: Recorder, found: Step) -> None:
    step = recorder.counters.step
    recorder.note("nonfinite", loss=str(found.loss))
    if training.recipe.training.on_nonfinite == "stop":
        with suppress(Exception):
            recorder.checkpoint()
        raise NonfiniteLoss(
            f"the loss is {found.loss} at step {step}",
            allowed="a finite loss, as training.on_nonfinite is 'stop'",
            remedy=f"the run {recorder.run.path} holds everything up to this step; lower optimizer.lr, "
            "or set training.on_nonfinite='continue'",
        )
