"""From a checkpoint in any format to a subject."""

from collections.abc import Mapping
from pathlib import Path

from torch import Tensor, nn

from ontogeny import formats
from ontogeny.errors import ForeignCheckpoint
from ontogeny.formats import NO_PICKLES, Trust, Weights
from ontogeny.formats.canonical import examples, require_values
from ontogeny.models import Decoder
from ontogeny.models.shapes import import_state
from ontogeny.subject.filling import fill
from ontogeny.subject.subject import Subject
from ontogeny.subject.transformers_models import load_transformers


def load_subject(
    source: Path | str | Weights, into: Subject | None = None, *, trust: Trust = NO_PICKLES
) -> Subject:
    """A model with the weights of a checkpoint, in eval mode and float32.

    The architecture is that of the checkpoint's configuration: a decoder of ours, or a class of
    `transformers` (no code of the checkpoint's own is run). Weights of the same architecture go into the
    subject `into` in place; a checkpoint that names no architecture can only be loaded so.

    Errors: ForeignCheckpoint, with the names, unless weights and architecture fill each other exactly;
    Damaged; Untrusted for files that hold a pickle, without `trust`; MissingExtra without `transformers`.
    """
    label = "these weights" if isinstance(source, Weights) else str(source)
    weights = source if isinstance(source, Weights) else formats.read(source, trust=trust)
    require_values(_unread(weights))
    if "ontogeny" in weights.config:
        return _own(weights, into)
    if "model_type" in weights.config:
        return load_transformers(weights, into, label)
    if into is not None:
        fill(into.model, weights, label)
        return into
    raise ForeignCheckpoint(
        f"nothing says which architecture {label} belong to",
        received=f"{len(weights.tensors)} tensors, {examples(weights.tensors)}; {'; '.join(weights.notes)}",
        allowed="a config.json with model_type beside the weights, or a Subject to load them into",
        remedy="put the model's config.json beside them, or pass into=Subject(model, anatomy)",
    )


def subject_of(model: nn.Module) -> Subject:
    """A model that a caller has loaded, once it is sure that all of it is there.

    ForeignCheckpoint names the tensors that are lazy, on the meta device, sharded, flat or partitioned.
    """
    require_values(model.state_dict(keep_vars=True))
    model.eval()
    return Subject(model)


def _unread(weights: Weights) -> Mapping[str, Tensor]:
    """Tensors to check for values; those that lie in files have been checked by their headers."""
    return weights.tensors if isinstance(weights.tensors, dict) else {}


def _own(weights: Weights, into: Subject | None) -> Subject:
    architecture, state = import_state(weights.config, dict(weights.tensors))
    if into is None or not isinstance(into.model, Decoder) or into.model.config != architecture:
        into = Subject(Decoder(architecture))
    into.model.load_state_dict(state)
    into.model.eval()
    return into
