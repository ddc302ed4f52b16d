"""From a checkpoint's folder to a subject."""

import json
from pathlib import Path
from typing import Any

from safetensors.torch import load_file
from torch import Tensor

from ontogeny.errors import ForeignCheckpoint, MissingExtra
from ontogeny.models import Decoder
from ontogeny.models.shapes import import_state
from ontogeny.store.checkpoint import MANIFEST, open_checkpoint
from ontogeny.subject.subject import Subject


def load_subject(folder: Path, into: Subject | None = None) -> Subject:
    """Load a checkpoint; weights of the same architecture are loaded into the given subject in place.

    A folder of ours is verified against its manifest. Others are loaded by `transformers`, from this folder
    only; tensors beyond what the architecture has are ignored. Errors: Damaged, ForeignCheckpoint with the
    names, MissingExtra without `transformers`.
    """
    config = _config(folder)
    if "ontogeny" in config:
        return _own(config, _tensors(folder), into)
    return _foreign(folder)


def _config(folder: Path) -> dict[str, Any]:
    try:
        config = json.loads((folder / "config.json").read_bytes())
    except (OSError, ValueError) as error:
        raise _not_loadable(folder, error) from error
    if not isinstance(config, dict):
        raise _not_loadable(folder, f"config.json holds a {type(config).__name__}")
    return config


def _not_loadable(folder: Path, reason: Exception | str) -> ForeignCheckpoint:
    return ForeignCheckpoint(
        f"{folder} cannot be loaded as a model",
        received=str(reason).split("\n\n")[0],
        allowed="config.json and weights of a decoder of ours, or of a causal model of transformers",
        remedy="measure models that have neither with a Subject and an Anatomy of your own",
    )


def _tensors(folder: Path) -> dict[str, Tensor]:
    if (folder / MANIFEST).exists():
        return open_checkpoint(folder).tensors("model")
    return load_file(folder / "model.safetensors")


def _own(config: dict[str, Any], tensors: dict[str, Tensor], into: Subject | None) -> Subject:
    architecture, state = import_state(config, tensors)
    if into is None or not isinstance(into.model, Decoder) or into.model.config != architecture:
        into = Subject(Decoder(architecture))
    into.model.load_state_dict(state)
    into.model.eval()
    return into


def _foreign(folder: Path) -> Subject:
    try:
        from transformers import AutoModelForCausalLM  # an optional extra
    except ImportError as error:
        raise MissingExtra(
            f"{folder} was written by other tools",
            received="no transformers",
            remedy="pip install 'ontogeny[hf]'",
        ) from error
    try:
        loaded: Any = AutoModelForCausalLM.from_pretrained(
            folder,
            local_files_only=True,
            dtype="float32",
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # they are named below
        )
    except Exception as error:  # whatever its many readers raise
        raise _not_loadable(folder, error) from error
    model, report = loaded
    wrong = {
        kind: sorted(map(str, report[kind])) for kind in ("missing_keys", "mismatched_keys") if report[kind]
    }
    if wrong:
        raise ForeignCheckpoint(
            f"{folder} does not fill its own model",
            received="; ".join(
                f"{kind}: {', '.join(names[:5])} ({len(names)})" for kind, names in wrong.items()
            ),
            allowed="every tensor the architecture has",
        )
    model.eval()
    return Subject(model)
