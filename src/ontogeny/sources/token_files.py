"""nanoGPT's token files: `train.bin` and `val.bin`, uint16 without a header, used where they are."""

import json
import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ontogeny.errors import BadSource

TRAIN, HELD_OUT = "train.bin", "val.bin"


@dataclass(frozen=True, eq=False)
class TokenFiles:
    """Two mapped token streams, how many ids there are, and what each id reads as if that is known."""

    train: NDArray[np.uint16]
    heldout: NDArray[np.uint16]
    vocabulary: int
    pieces: Mapping[int, str] | None


class _PlainUnpickler(pickle.Unpickler):
    """Reads dictionaries, numbers and strings, and refuses everything that could run code."""

    def find_class(self, module_name: str, global_name: str, /) -> Any:
        raise pickle.UnpicklingError(f"{module_name}.{global_name} is not plain data")


def holds_token_files(folder: Path) -> bool:
    return (folder / TRAIN).is_file() and (folder / HELD_OUT).is_file()


def read_token_files(folder: Path, vocabulary: int | None = None) -> TokenFiles:
    """Both streams mapped, not read. `vocabulary` given here goes before that of meta.json or meta.pkl.

    BadSource where nobody says the vocabulary, or a file is empty or cut.
    """
    meta = _meta(folder)
    size = vocabulary if vocabulary is not None else meta.get("vocab_size")
    if not isinstance(size, int) or size < 1:
        raise BadSource(
            f"the vocabulary of {folder} is not known",
            received=size,
            allowed="a meta.pkl or meta.json with vocab_size, or corpus.vocabulary",
            remedy="set corpus.vocabulary (50257 for GPT-2's tokens)",
        )
    pieces = meta.get("itos")
    pieces = {int(token): str(text) for token, text in pieces.items()} if isinstance(pieces, dict) else None
    return TokenFiles(_mapped(folder / TRAIN), _mapped(folder / HELD_OUT), size, pieces)


def _mapped(path: Path) -> NDArray[np.uint16]:
    size = path.stat().st_size
    if size == 0 or size % 2:
        raise BadSource(f"{path} holds no whole uint16 tokens", received=f"{size} bytes")
    return np.memmap(path, dtype=np.uint16, mode="r")


def _meta(folder: Path) -> dict[str, Any]:
    written, pickled = folder / "meta.json", folder / "meta.pkl"
    try:
        if written.is_file():
            found = json.loads(written.read_bytes())
        elif pickled.is_file():
            with pickled.open("rb") as file:
                found = _PlainUnpickler(file).load()
        else:
            return {}
    except (ValueError, pickle.UnpicklingError, EOFError) as error:
        raise BadSource(f"the meta file of {folder} cannot be read", received=str(error)) from None
    return found if isinstance(found, dict) else {}
