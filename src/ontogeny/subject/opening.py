"""From a checkpoint of a series to a subject, wherever it comes from."""

from collections.abc import Mapping

from ontogeny.errors import ForeignCheckpoint, OntogenyError
from ontogeny.formats import Weights
from ontogeny.formats.canonical import canonical_state
from ontogeny.series import MadeCheckpoint, SeriesCheckpoint, StoredCheckpoint, module_of
from ontogeny.subject.loading import load_subject, subject_of
from ontogeny.subject.subject import Subject


def open_subject(checkpoint: SeriesCheckpoint, into: Subject | None = None) -> Subject:
    """The model of a checkpoint; a stored one of the same architecture goes into `into` in place.

    A fetched revision is gone from the disk when this returns. Errors: those of `load_subject`;
    ForeignCheckpoint for whatever a user's function raises.
    """
    if isinstance(checkpoint, StoredCheckpoint):
        with checkpoint.present() as path:
            return load_subject(path, into, trust=checkpoint.trust)
    if isinstance(checkpoint, MadeCheckpoint):
        return _made(checkpoint)
    return load_subject(checkpoint.weights(), into)


def _made(checkpoint: MadeCheckpoint) -> Subject:
    try:
        found = checkpoint.made()
    except OntogenyError:
        raise
    except Exception as error:  # the user's own code
        raise ForeignCheckpoint(
            f"the function failed for step {checkpoint.step}", received=f"{type(error).__name__}: {error}"
        ) from error
    if isinstance(found, Subject):
        return found
    if isinstance(found, Mapping):
        held = subject_of(checkpoint.model) if checkpoint.model is not None else None
        state = canonical_state(found)
        weights = Weights(state.tensors, aliases=state.aliases, notes=state.notes)
        return load_subject(weights, held)
    module = module_of(found)
    if module is None:  # `made` has refused it
        raise AssertionError(found)
    return subject_of(module)
