"""From a checkpoint back to a training state that goes on exactly as it would have gone on."""

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from ontogeny.catalogue import Intervention, part
from ontogeny.errors import BadContract, NotReplayable
from ontogeny.models.shapes import import_state
from ontogeny.record.recipe import Recipe
from ontogeny.record.saving import join_tensors, load_optimizer_by_name
from ontogeny.record.training import Training, objective_of
from ontogeny.store.checkpoint import Checkpoint
from ontogeny.store.run import Run
from ontogeny.vocabulary import Window


def made_intervention(spec: str, window: Window, sham: bool = False) -> Intervention:
    """An intervention from its text, such as `weight_decay(value=0)`, in a window.

    Only names and plain values are read; nothing is evaluated. BadContract for text of another form,
    UnknownName for an intervention or parameter that does not exist.
    """
    try:
        call = ast.parse(spec if "(" in spec else f"{spec}()", mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
            raise ValueError("not a call with named values")
        values = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
    except (SyntaxError, ValueError) as error:
        raise BadContract(
            f"an intervention that cannot be read: {error}",
            received=spec,
            allowed="name(parameter=value, …) with plain values, e.g. weight_decay(value=0)",
        ) from None
    found = part("intervention", call.func.id)
    made: Intervention = found.make(**{name: found.bind(**values)[name] for name in values})
    made.window = window
    return made.sham() if sham else made


def recorded_interventions(entries: Sequence[Mapping[str, Any]]) -> list[Intervention]:
    """Interventions as `run.json` lists them: spec, start, end, sham."""
    return [
        made_intervention(entry["spec"], Window(entry["start"], entry["end"]), entry.get("sham", False))
        for entry in entries
    ]


def training_of(run: Run) -> Training:
    """A run's training at step 0, made from its recipe; NotReplayable if the run has none."""
    if "recipe" not in run.identity:
        raise NotReplayable(
            f"{run.path} was recorded from a foreign loop",
            received=run.identity.get("grade", {}).get("reason", "no recipe"),
            allowed="runs of `ontogeny train`, whose recipe says how a step is taken",
        )
    recipe = Recipe.from_document(run.identity["recipe"])
    made = recorded_interventions(run.identity.get("interventions", ()))
    return Training(recipe, objective_of(recipe, run.path), made)


def restore(training: Training, checkpoint: Checkpoint) -> None:
    """Put a checkpoint's whole state into a training of the same recipe.

    NotReplayable if the checkpoint holds no optimizer; ForeignCheckpoint if its tensors are another model's.
    """
    if "optimizer" not in checkpoint.manifest.tensors:
        raise NotReplayable(
            f"checkpoint {checkpoint.step} holds no optimizer state",
            remedy="record with recording.keep_optimizer = true",
        )
    _, weights = import_state(checkpoint.document("config"), checkpoint.tensors("model"))
    training.model.load_state_dict(weights)
    document = checkpoint.document("state")
    load_optimizer_by_name(
        training.optimizer,
        training.model,
        join_tensors(document["optimizer"], checkpoint.tensors("optimizer")),
    )
    extra = checkpoint.tensors("extra") if "extra" in checkpoint.manifest.tensors else {}
    for name, held in training.state.items():
        if name not in ("model", "optimizer") and name in document:
            held.load_state_dict(join_tensors(document[name], extra))


def earlier_checkpoint(run: Run, step: int) -> Checkpoint:
    """The last checkpoint at or before a step that can be restored; NotReplayable if there is none."""
    whole = [c for c in run.checkpoints if c.step <= step and "optimizer" in c.manifest.tensors]
    if not whole:
        first = run.identity.get("parent", {}).get("step")
        raise NotReplayable(
            f"{run.path} has no checkpoint at or before step {step} that can be restored",
            received=f"checkpoints at {[c.step for c in run.checkpoints][:8]}",
            remedy="ask the run it was branched from" if first else "record with keep_optimizer = true",
        )
    return whole[-1]
