"""Artefacts of fits: probes, lenses, dictionaries, each a file of tensors under `fits/`."""

from collections.abc import Mapping
from pathlib import Path

from torch import Tensor

from ontogeny.store.files import write_file
from ontogeny.store.tensorfile import storable, write_tensors


def write_fit(home: Path, key: str, artefact: Mapping[str, Tensor]) -> Path:
    """Write one artefact as `fits/<key>.safetensors`."""
    path = home / "fits" / f"{key}.safetensors"
    path.parent.mkdir(parents=True, exist_ok=True)
    dense = {name: storable(tensor, name) for name, tensor in artefact.items()}
    write_file(path, lambda file: write_tensors(file, dense, {"format": "pt"}))
    return path
