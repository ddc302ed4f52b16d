"""GGUF, read through `transformers`: quantised blocks come back as float32, and say so."""

import contextlib
import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ontogeny.errors import BadSource, ForeignCheckpoint, MissingExtra
from ontogeny.formats.canonical import canonical_state
from ontogeny.formats.transformers_folder import tokenizer_folder
from ontogeny.formats.weights import NO_PICKLES, Trust, Weights
from ontogeny.sources import Tokenizer

name = "gguf"
looks_like = "a file that begins with GGUF"
#: What one should know before anything is measured on it.
caution = "GGUF: values are float32 as dequantised, not those that were trained"

NEEDED = ("transformers", "gguf", "accelerate")


def claims(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"GGUF"


def files(path: Path) -> tuple[Path, ...]:
    return (path,)


def read(path: Path, *, trust: Trust = NO_PICKLES) -> Weights:
    model = _model(path)
    canonical = canonical_state(model.state_dict(keep_vars=True))
    config = model.config.to_dict() | {"architectures": [type(model).__name__]}
    config.pop("quantization_config", None)  # no longer true of these tensors
    tokenizer = tokenizer_folder(path.parent) or path
    return Weights(canonical.tensors, config, canonical.aliases, tokenizer, (caution, *canonical.notes))


def read_gguf_tokenizer(path: Path) -> Tokenizer:
    """The tokenizer inside the file, as `transformers` reads it. Errors: MissingExtra, BadSource."""
    _require_libraries(path)
    from transformers import AutoTokenizer  # an optional extra, and slow to import

    try:
        read = AutoTokenizer.from_pretrained(str(path.parent), gguf_file=path.name, local_files_only=True)
        pipeline = read.backend_tokenizer
    except BaseException as error:  # whatever its many readers raise; a panic in Rust is no Exception
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        raise BadSource(
            f"the tokenizer in {path} cannot be read",
            received=str(error).split("\n\n")[0],
            allowed="one that transformers can read from GGUF",
            remedy="put the tokenizer.json that belongs to it beside the file",
        ) from error
    return Tokenizer(pipeline, {name: str(token) for name, token in read.special_tokens_map.items()})


def _require_libraries(path: Path) -> None:
    if missing := [needed for needed in NEEDED if importlib.util.find_spec(needed) is None]:
        raise MissingExtra(
            f"{path} is a GGUF file",
            received=f"no {', '.join(missing)}",
            allowed=" with ".join(NEEDED),
            remedy="pip install 'ontogeny[gguf]'",
        )


def _model(path: Path) -> Any:
    _require_libraries(path)
    from transformers import AutoModelForCausalLM  # an optional extra, and slow to import

    try:
        with without_bars():
            return AutoModelForCausalLM.from_pretrained(
                str(path.parent), gguf_file=path.name, local_files_only=True, dtype="float32"
            )
    except Exception as error:  # whatever its many readers raise
        raise ForeignCheckpoint(
            f"{path} cannot be read as GGUF",
            received=str(error).split("\n\n")[0],
            allowed="an architecture that transformers can read from GGUF",
            remedy="convert it to safetensors with the tool that wrote it",
        ) from error


@contextlib.contextmanager
def without_bars() -> Iterator[None]:
    """Keep the library's own progress bars from the terminal, on which ours is drawn."""
    from transformers.utils import logging  # as above

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()
