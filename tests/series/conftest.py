"""Checkpoints that are recognised and are no model."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file


@pytest.fixture
def bare() -> Callable[..., Path]:
    """`bare(folder, value)`: a folder with a configuration and one tensor."""

    def make(folder: Path, value: float = 1.0) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.json").write_text(json.dumps({"model_type": "llama"}))
        save_file({"weight": torch.full((3,), value)}, folder / "model.safetensors")
        return folder

    return make
