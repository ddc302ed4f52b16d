"""A folder that `transformers` wrote: config.json and safetensors, one file or several with an index."""

from pathlib import Path
from typing import Any

from ontogeny.formats.safetensors_files import indexed_files, read_document, weights_in
from ontogeny.formats.weights import NO_PICKLES, Trust, Weights

name = "transformers"
looks_like = "a folder with model.safetensors or model.safetensors.index.json, or one .safetensors file"

CONFIG, SINGLE, INDEX = "config.json", "model.safetensors", "model.safetensors.index.json"


def claims(path: Path) -> bool:
    if path.is_file():
        return path.suffix == ".safetensors"
    return (path / INDEX).is_file() or (path / SINGLE).is_file()


def files(path: Path) -> tuple[Path, ...]:
    home = path.parent if path.is_file() else path
    described = [home / file for file in (CONFIG, INDEX) if (home / file).is_file()]
    return (*(described if path.is_dir() else described[:1]), *_weight_files(path))


def read(path: Path, *, trust: Trust = NO_PICKLES) -> Weights:
    home = path.parent if path.is_file() else path
    return weights_in(_weight_files(path), config_of(home), tokenizer_folder(home))


def _weight_files(path: Path) -> tuple[Path, ...]:
    if path.is_file():
        return (path,)
    return (path / SINGLE,) if (path / SINGLE).is_file() else indexed_files(path / INDEX)


def config_of(folder: Path) -> dict[str, Any]:
    """The folder's config.json; {} if it has none."""
    return read_document(folder / CONFIG) if (folder / CONFIG).is_file() else {}


def tokenizer_folder(folder: Path) -> Path | None:
    """The folder, if a tokenizer lies in it."""
    return folder if (folder / "tokenizer.json").is_file() else None
