"""What a trainer wrote beside a checkpoint about its step and tokens: ours, or the one of `transformers`."""

import json
from pathlib import Path
from typing import Any

from ontogeny.errors import OntogenyError
from ontogeny.store.checkpoint import MANIFEST, Checkpoint, open_checkpoint

#: Written by the trainer of `transformers` into every checkpoint.
TRAINER_STATE = "trainer_state.json"


def recorded_step(path: Path) -> int | None:
    """The optimizer steps taken, as the trainer counted them; None if nothing beside the weights says.

    A folder's name may count anything: micro-batches, epochs, saves since the last resume.
    """
    if (path / MANIFEST).is_file():
        return open_checkpoint(path).step
    step = _trainer_state(path).get("global_step")
    return step if isinstance(step, int) else None


def recorded_tokens(path: Path) -> float | None:
    """The tokens seen, as the trainer counted them; None if it counted none."""
    if (path / MANIFEST).is_file():
        return _own_count(open_checkpoint(path))
    return _trainer_state(path).get("num_input_tokens_seen") or None


def _own_count(checkpoint: Checkpoint) -> float | None:
    try:
        counted = checkpoint.document("state")["counters"]["tokens"]
    except (OntogenyError, KeyError, TypeError):  # written without a state, or with one of other parts
        return None
    return counted if counted or not checkpoint.step else None  # a loop that counted no tokens says 0


def _trainer_state(path: Path) -> dict[str, Any]:
    try:
        document = json.loads((path / TRAINER_STATE).read_bytes())
    except (OSError, ValueError):
        return {}
    return document if isinstance(document, dict) else {}
