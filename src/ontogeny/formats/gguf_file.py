"""GGUF, read through `transformers`: quantised blocks come back as float32, and say so."""

import importlib.util
from pathlib import Path
from typing import Any

from ontogeny.errors import ForeignCheckpoint, MissingExtra
from ontogeny.formats.canonical import canonical_state
from ontogeny.formats.transformers_folder import tokenizer_folder
from ontogeny.formats.weights import NO_PICKLES, Trust, Weights

name = "gguf"
looks_like = "a file that begins with GGUF"

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
    note = "GGUF: values are float32 as dequantised, not those that were trained; its tokenizer is not read"
    return Weights(
        canonical.tensors, config, canonical.aliases, tokenizer_folder(path.parent), (note, *canonical.notes)
    )


def _model(path: Path) -> Any:
    if missing := [needed for needed in NEEDED if importlib.util.find_spec(needed) is None]:
        raise MissingExtra(
            f"{path} is a GGUF file",
            received=f"no {', '.join(missing)}",
            allowed=" with ".join(NEEDED),
            remedy="pip install 'ontogeny[gguf]'",
        )
    from transformers import AutoModelForCausalLM  # an optional extra, and slow to import

    try:
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
