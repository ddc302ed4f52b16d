"""Small checkpoints of our decoder, as other tools leave them; the functions have names to import."""

import json
from pathlib import Path

from safetensors.torch import save_file

from ontogeny.models import Decoder, DecoderConfig
from ontogeny.models.shapes import export_state
from ontogeny.vocabulary import Streams

CONFIG = DecoderConfig(vocabulary=48, context=32, width=16, layers=1, heads=2)


def small_model(seed: int, config: DecoderConfig = CONFIG) -> Decoder:
    """A fresh decoder; what a user's own `load(step)` may give."""
    return Decoder(config, Streams(seed).generator("init"))


def save_model(folder: Path, seed: int, config: DecoderConfig = CONFIG) -> Path:
    """A folder with config.json and model.safetensors, and no manifest."""
    described, tensors = export_state(config, dict(small_model(seed, config).state_dict()))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(described))
    save_file({name: t.contiguous().clone() for name, t in tensors.items()}, folder / "model.safetensors")
    return folder
