"""Train a recipe, recorded from its first step to its last."""

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ontogeny.catalogue import Intervention
from ontogeny.errors import NonfiniteLoss
from ontogeny.record.estimate import Estimate, estimate, require_space
from ontogeny.record.grade import STEPS, Repetition
from ontogeny.record.recipe import Recipe
from ontogeny.record.recorder import Recorder
from ontogeny.record.training import Step, Training, objective_of
from ontogeny.store.run import Run

Progress = Callable[[int, Step], None]


def train(
    recipe: Recipe,
    path: Path | str,
    *,
    interventions: Sequence[Intervention] = (),
    begin: Callable[[Estimate], None] = lambda estimate: None,
    progress: Progress = lambda step, found: None,
    grade: bool = True,
) -> Run:
    """Train and record one run; returns it finished.

    `begin` hears the estimate before the first step, `progress` every step. `grade=False` leaves out the
    repetition of the first steps in a fresh process, and the run keeps grade S.

    Errors: RunExists, NotWritable, DiskFull before anything is trained; NonfiniteLoss where the recipe's
    policy is to stop (the run stays readable and holds the step).
    """
    path = Path(path)
    objective = objective_of(recipe, path)
    training = Training(recipe, objective, interventions)
    found = estimate(training)
    require_space(found, path)
    begin(found)
    with _recorder(training, path) as recorder:
        repetition = Repetition(recorder.run, recipe.training.steps) if grade and not interventions else None
        try:
            _loop(training, recorder, progress)
        except BaseException:
            if repetition is not None:
                repetition.stop()
            raise
        if repetition is not None:
            recorder.run.update_identity(grade=asdict(repetition.grade()))
    return Run.open(path)


def _recorder(training: Training, path: Path) -> Recorder:
    recipe, objective = training.recipe, training.objective
    identity = {
        "recipe": recipe.document(),
        "recipe_hash": recipe.hash,
        "title": recipe.title,
        "sources": _sources(objective),
        "vocabulary": objective.vocabulary,
        "context": objective.context,
        "steps": recipe.training.steps,
        "grade": {"letter": "S", "reason": "its first steps have not been repeated"},
    }
    recorder = Recorder(
        path,
        training.model,
        training.optimizer,
        checkpoints=recipe.recording.scheduled(recipe.training.steps),
        parts={name: part for name, part in training.state.items() if name not in ("model", "optimizer")},
        identity=identity,
        keep_optimizer=recipe.recording.keep_optimizer,
        tokenizer=getattr(getattr(objective, "corpus", None), "tokenizer", None),
    )
    training.state["counters"] = recorder.counters
    return recorder


def _sources(objective: Any) -> dict[str, Any]:
    source = getattr(objective, "corpus", None)
    if source is None:
        return {}
    return {
        "corpus": source.name,
        "corpus_hash": source.corpus_hash,
        "tokens_hash": source.hash,
        "split": source.split,
        "notes": list(source.notes),
    }


def _loop(training: Training, recorder: Recorder, progress: Progress) -> None:
    _look(training, recorder)
    for step in range(1, training.recipe.training.steps + 1):
        found = training.step()
        recorder.step(
            found.loss,
            tokens=found.tokens,
            samples=found.samples,
            micro_batches=training.recipe.training.accumulation,
            gradient_norm=found.gradient_norm,
            weight=found.weight,
            draw=found.draw,
        )
        if not math.isfinite(found.loss):
            _nonfinite(training, recorder, found)
        if step in recorder.checkpoints:
            _look(training, recorder)
        progress(step, found)


def _look(training: Training, recorder: Recorder) -> None:
    """What goes with a checkpoint: the held-out loss, and what the model writes."""
    recording = training.recipe.recording
    if recording.evaluate:
        recorder.log(heldout_loss=training.evaluate(recording.evaluate))
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


__all__ = ["STEPS", "train"]
