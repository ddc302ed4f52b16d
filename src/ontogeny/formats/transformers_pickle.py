"""A folder of `transformers` from before safetensors: config.json and pytorch_model.bin, or its parts."""

from pathlib import Path

from ontogeny.formats.safetensors_files import indexed_files
from ontogeny.formats.sandbox import unpickled
from ontogeny.formats.transformers_folder import CONFIG, config_of, tokenizer_folder
from ontogeny.formats.weights import NO_PICKLES, Trust, Weights

name = "transformers-pickle"
looks_like = "a folder with pytorch_model.bin or pytorch_model.bin.index.json"

SINGLE, INDEX = "pytorch_model.bin", "pytorch_model.bin.index.json"


def claims(path: Path) -> bool:
    return (path / SINGLE).is_file() or (path / INDEX).is_file()


def files(path: Path) -> tuple[Path, ...]:
    described = [path / file for file in (CONFIG, INDEX) if (path / file).is_file()]
    return (*described, *_weight_files(path))


def read(path: Path, *, trust: Trust = NO_PICKLES) -> Weights:
    found = unpickled(_weight_files(path), trust=trust, kind="pickle")
    return Weights(found.tensors, config_of(path), found.aliases, tokenizer_folder(path), found.notes)


def _weight_files(path: Path) -> tuple[Path, ...]:
    return (path / SINGLE,) if (path / SINGLE).is_file() else indexed_files(path / INDEX)
