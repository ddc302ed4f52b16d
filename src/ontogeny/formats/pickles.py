"""A file that `torch.save` wrote: nanoGPT's ckpt.pt, or any other pickle with a state dict in it."""

from pathlib import Path

from ontogeny.formats import nanogpt, pico
from ontogeny.formats.sandbox import unpickled
from ontogeny.formats.transformers_folder import CONFIG, config_of, tokenizer_folder
from ontogeny.formats.weights import NO_PICKLES, Trust, Weights

name = "pickle"
looks_like = "a file that torch.save wrote (.pt, .pth, .ckpt, .bin, .pkl), or a folder with nanoGPT's ckpt.pt"

SUFFIXES = (".pt", ".pth", ".ckpt", ".bin", ".pkl")
IN_FOLDER = "ckpt.pt"


def claims(path: Path) -> bool:
    if path.is_dir():
        path = path / IN_FOLDER
    return path.suffix in SUFFIXES and path.is_file() and is_pickle(path)


def files(path: Path) -> tuple[Path, ...]:
    file = _file(path)
    beside = file.parent / CONFIG
    return (beside, file) if beside.is_file() else (file,)


def read(path: Path, *, trust: Trust = NO_PICKLES) -> Weights:
    file = _file(path)
    found = unpickled([file], trust=trust, kind="pickle")
    if nanogpt.describes(found):
        return nanogpt.weights_of(found, str(path))
    config = config_of(file.parent)
    read = Weights(found.tensors, config, found.aliases, tokenizer_folder(file.parent), found.notes)
    if pico.describes(config):
        return pico.converted(read, str(path))
    return read if config else read.noted("the file does not say which architecture its tensors belong to")


def _file(path: Path) -> Path:
    return path / IN_FOLDER if path.is_dir() else path


def is_pickle(path: Path) -> bool:
    """Whether a file begins like a zip archive of torch's, or like a bare pickle of protocol 2 or later."""
    with path.open("rb") as file:
        start = file.read(4)
    return start == b"PK\x03\x04" or (start[:1] == b"\x80" and 2 <= start[1] <= 5)
