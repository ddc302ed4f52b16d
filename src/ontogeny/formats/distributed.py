"""A folder of shards that `torch.distributed.checkpoint` wrote; its metadata is a pickle."""

from pathlib import Path

from ontogeny.formats.distributed_shards import METADATA
from ontogeny.formats.sandbox import unpickled
from ontogeny.formats.transformers_folder import CONFIG, config_of, tokenizer_folder
from ontogeny.formats.weights import NO_PICKLES, Trust, Weights

name = "torch-distributed"
looks_like = "a folder with .metadata and .distcp files"


def claims(path: Path) -> bool:
    return (path / METADATA).is_file() and any(path.glob("*.distcp"))


def files(path: Path) -> tuple[Path, ...]:
    described = [path / CONFIG] if (path / CONFIG).is_file() else []
    return (*described, path / METADATA, *sorted(path.glob("*.distcp")))


def read(path: Path, *, trust: Trust = NO_PICKLES) -> Weights:
    found = unpickled([path], trust=trust, kind="distributed")
    config = config_of(path)
    read = Weights(found.tensors, config, found.aliases, tokenizer_folder(path), found.notes)
    return read if config else read.noted("the shards do not say which architecture they belong to")
