"""The process that opens pickles: `python -m ontogeny.formats.unpickling kind home memory path …`.

It loads only what torch's `weights_only` allows, finds the model in it, and writes `found.safetensors` and
`found.json` into `home`. Nothing else here may touch the payload.
"""

import contextlib
import json
import pickle
import resource
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ontogeny.errors import OntogenyError
from ontogeny.formats.canonical import canonical_state, examples
from ontogeny.formats.distributed_shards import load_shards
from ontogeny.formats.sandbox import RESULT, TENSORS
from ontogeny.store.tensorfile import storable, write_tensors

#: Where training loops put the model's state dict, in the order in which they are asked.
MODEL_KEYS = ("model", "state_dict", "model_state_dict", "model_state", "module", "_model", "net", "network")
_PLAIN = bool | int | float | str
Found = tuple[dict[str, Tensor], dict[str, Any], list[str]]


def confine(memory: int) -> None:
    """No more than `memory` bytes beyond what is mapped now, written to disk or held; no core dump."""
    with contextlib.suppress(OSError):  # there is no /proc elsewhere than on Linux
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + memory
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_FSIZE, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def load_pickles(paths: Sequence[Path]) -> Found:
    """The model's state dict in one pickle, or in the parts of one, with plain values and notes."""
    state: dict[str, Tensor] = {}
    document: dict[str, Any] = {}
    notes: list[str] = []
    for path in paths:
        payload = torch.load(path, map_location="cpu", weights_only=True)
        held, where = model_state(payload)
        tensors = {str(name): value for name, value in held.items() if isinstance(value, Tensor)}
        others = [str(name) for name, value in held.items() if not isinstance(value, Tensor)]
        if where:
            notes.append(f"the model was found under {where!r}")
            document |= plain({key: value for key, value in payload.items() if key != where})
        elif others:
            notes.append(f"no tensors, left out: {examples(others)}")
        state |= tensors
    return state, document, notes


def model_state(payload: Any) -> tuple[Mapping[Any, Any], str]:
    """The state dict in what was saved, and the key it was under; ForeignCheckpoint if there is none."""
    if isinstance(payload, Mapping):
        for key in MODEL_KEYS:
            if holds_tensors(payload.get(key)):
                return payload[key], key
        if holds_tensors(payload):
            return payload, ""
    seen = examples(map(str, payload)) if isinstance(payload, Mapping) else f"a {type(payload).__name__}"
    raise OntogenyError(
        "there is no model in this pickle",
        received=seen,
        allowed=f"a state dict, or one under {', '.join(MODEL_KEYS)}",
        remedy="save model.state_dict()",
    )


def holds_tensors(value: Any) -> bool:
    return isinstance(value, Mapping) and any(isinstance(item, Tensor) for item in value.values())


def plain(value: Any, depth: int = 4) -> Any:
    """The numbers, texts and small nestings of them in a payload; everything else is left out."""
    if isinstance(value, Tensor):
        return value.item() if value.numel() == 1 and not value.is_complex() and not value.is_meta else None
    if isinstance(value, Mapping) and depth:
        items = {str(key): plain(item, depth - 1) for key, item in list(value.items())[:1000]}
        return {key: item for key, item in items.items() if item is not None}
    if isinstance(value, list | tuple) and depth and len(value) <= 1000:
        return [plain(item, depth - 1) for item in value]
    return value if isinstance(value, _PLAIN) else None


def write_found(home: Path, found: Found) -> None:
    """Tensors and document into `home`, the document last."""
    state, document, notes = found
    canonical = canonical_state(state)
    dense = {name: storable(tensor, name) for name, tensor in canonical.tensors.items()}
    with open(home / TENSORS, "wb") as file:
        write_tensors(file, dense, {"format": "pt"})
    _answer(
        home,
        {
            "names": list(dense),
            "complex": [name for name, tensor in canonical.tensors.items() if tensor.is_complex()],
            "aliases": dict(canonical.aliases),
            "document": document,
            "notes": [*notes, *canonical.notes],
        },
    )


def _answer(home: Path, answer: dict[str, Any]) -> None:
    (home / RESULT).write_text(json.dumps(answer))


def _refusal(error: Exception) -> dict[str, Any]:
    if isinstance(error, OntogenyError):
        return {
            "refusal": "foreign",
            "what": error.what,
            "received": None if error.received is None else str(error.received),
            "allowed": error.allowed,
            "remedy": error.remedy,
        }
    said = _cause(error)
    if isinstance(error, pickle.UnpicklingError):
        return {
            "refusal": "untrusted",
            "what": "this pickle holds more than tensors and plain values, and was not opened",
            "received": said,
            "allowed": "what torch.load(weights_only=True) allows",
            "remedy": "convert it to safetensors where it was written; it is not opened in any other way",
        }
    return {
        "refusal": "damaged",
        "what": "this file could not be read",
        "received": f"{type(error).__name__}: {said}",
        "allowed": "a whole file that torch.save wrote, in the limits of Trust",
        "remedy": "restore it from a copy, or raise Trust(memory=…)",
    }


def _cause(error: Exception) -> str:
    """What went wrong, without torch's advice to load the file unsafely."""
    said = [part.strip() for part in str(error).split("\n\n") if "weights_only" not in part]
    return next(filter(None, said), type(error).__name__)[:300]


LOADERS = {"pickle": load_pickles, "distributed": load_shards}


def main(arguments: Sequence[str]) -> None:
    kind, home, memory, *paths = arguments
    torch.set_num_threads(1)
    confine(int(memory))
    try:
        write_found(Path(home), LOADERS[kind]([Path(path) for path in paths]))
    except Exception as error:  # whatever a hostile file makes torch raise becomes an answer
        _answer(Path(home), _refusal(error))


if __name__ == "__main__":
    main(sys.argv[1:])
