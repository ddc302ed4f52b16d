"""From a checkpoint back to a training state that goes on exactly as it would have gone on."""

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from ontogeny.catalogue import Intervention, part
from ontogeny.catalogue.calls import read_call
from ontogeny.errors import ForeignCheckpoint, NotReplayable
from ontogeny.formats.canonical import canonical_name
from ontogeny.models import Decoder
from ontogeny.models.shapes import import_state
from ontogeny.record.norms import named_trainable
from ontogeny.record.recipe import Recipe
from ontogeny.record.saving import join_tensors, load_optimizer_by_name
from ontogeny.record.training import Training, objective_of
from ontogeny.store.checkpoint import Checkpoint
from ontogeny.store.run import Run
from ontogeny.vocabulary import TrainingState, Window


def made_intervention(spec: str, window: Window, sham: bool = False) -> Intervention:
    """An intervention from its text, such as `weight_decay(value=0)`, in a window.

    Only names and plain values are read; nothing is evaluated. BadContract for text of another form,
    UnknownName for an intervention or parameter that does not exist.
    """
    name, values = read_call(spec, "an intervention")
    found = part("intervention", name)
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
            allowed="runs of `ontogeny train`, and loops that were recorded with recorder.advance(batch)",
            remedy="in Python: at, thin, materialise and branch take advance=…, model=…, optimizer=…",
        )
    recipe = Recipe.from_document(run.identity["recipe"])
    made = recorded_interventions(run.identity.get("interventions", ()))
    return Training(recipe, objective_of(recipe, run.path), made)


def restore(training: Training, checkpoint: Checkpoint) -> None:
    """Put a checkpoint's whole state into a training of the same recipe; errors as `restore_state`."""
    restore_state(training.state, checkpoint)


def restore_state(state: TrainingState, checkpoint: Checkpoint) -> None:
    """Put a checkpoint into the parts of a training state, whoever's loop they belong to.

    Parts the checkpoint does not hold keep what they have. The global random generators are not touched:
    `restore_random_state(checkpoint.document("state")["random"])` does that.
    NotReplayable if the checkpoint holds no optimizer; ForeignCheckpoint if its tensors are another model's.
    """
    if "optimizer" not in checkpoint.manifest.tensors:
        raise NotReplayable(
            f"checkpoint {checkpoint.step} holds no optimizer state",
            remedy="record with keep_optimizer = true",
        )
    load_model(state["model"], checkpoint)
    document = checkpoint.document("state")
    if (frozen := document.get("frozen")) is not None:
        for name, parameter in named_trainable(state["model"]).items():
            parameter.requires_grad = name not in frozen
    saved = join_tensors(document["optimizer"], checkpoint.tensors("optimizer"))
    load_optimizer_by_name(state["optimizer"], state["model"], saved)
    extra = checkpoint.tensors("extra") if "extra" in checkpoint.manifest.tensors else {}
    for name, held in state.items():
        if name not in ("model", "optimizer") and name in document:
            held.load_state_dict(join_tensors(document[name], extra))


def load_model(model: nn.Module, checkpoint: Checkpoint) -> None:
    """A checkpoint's weights and buffers, by canonical name; tied ones stay tied.

    ForeignCheckpoint unless the names are the same on both sides. A lazy parameter that is not there takes
    its shape from the checkpoint, or stays lazy where it was lazy there.
    """
    stored = checkpoint.tensors("model")
    if isinstance(model, Decoder):
        model.load_state_dict(import_state(checkpoint.document("config"), stored)[1])
        return
    first: dict[int, str] = {}
    found: dict[str, str] = {}
    lazy: set[str] = set()
    for name, tensor in model.state_dict(keep_vars=True).items():
        if isinstance(tensor, Tensor):
            found[name] = first.setdefault(id(tensor), canonical_name(name))
            lazy |= {found[name]} if is_lazy(tensor) else set()
    if set(stored) - set(found.values()) or set(found.values()) - set(stored) - lazy:
        raise ForeignCheckpoint(
            f"checkpoint {checkpoint.step} holds the tensors of another model",
            received=sorted(set(stored) ^ (set(found.values()) - lazy))[:8],
            allowed="the same names on both sides; the above are on one side only",
        )
    try:
        model.load_state_dict({n: stored[c] for n, c in found.items() if c in stored}, strict=False)
    except RuntimeError as error:  # torch says so of a tensor of another shape
        raise ForeignCheckpoint(
            f"checkpoint {checkpoint.step} holds tensors of other shapes", received=str(error)[:300]
        ) from error


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
