"""Opening a file that holds a pickle: in a process of its own, confined, and never a second time.

The process loads with torch's `weights_only`, under limits of memory and time, without this process's
environment, and hands tensors back as a safetensors file and the rest as JSON. What it refuses stays closed.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor

from ontogeny.errors import Damaged, ForeignCheckpoint, OntogenyError, Untrusted
from ontogeny.formats.weights import Trust
from ontogeny.store.tensorfile import read_header, read_tensor

RESULT, TENSORS = "found.json", "found.safetensors"
HEADROOM = 2 << 30


@dataclass(frozen=True)
class Unpickled:
    """A model's tensors under canonical names, and the plain values that lay beside them."""

    tensors: Mapping[str, Tensor]
    aliases: Mapping[str, str]
    document: Mapping[str, Any]
    notes: tuple[str, ...]


def unpickled(paths: Sequence[Path], *, trust: Trust, kind: Literal["pickle", "distributed"]) -> Unpickled:
    """The model in some pickles. Untrusted without leave, and if the pickle needs more than plain tensors;
    ForeignCheckpoint if there is no model in it; Damaged if it cannot be read, or in these limits."""
    label = str(paths[0])
    if not trust.pickles:
        raise Untrusted(
            f"{label} holds a pickle, which can run code when it is opened",
            allowed="formats without code: safetensors, llama2.c, GGUF",
            remedy="if you trust where it comes from, allow pickles (Trust(pickles=True), --pickle); "
            "it is then opened in a confined process, as weights only",
        )
    size = sum(
        file.stat().st_size for path in paths for file in (path.iterdir() if path.is_dir() else (path,))
    )
    memory = HEADROOM + 4 * size if trust.memory is None else trust.memory
    with tempfile.TemporaryDirectory(prefix="ontogeny-") as home:
        _run(kind, Path(home), memory, trust.seconds, paths)
        return _result(Path(home), label)


def _run(kind: str, home: Path, memory: int, seconds: float, paths: Sequence[Path]) -> None:
    package = Path(__file__).parents[2]
    command = [sys.executable, "-P", "-s", "-m", "ontogeny.formats.unpickling", kind, str(home), str(memory)]
    environment = {"PYTHONPATH": str(package), "OMP_NUM_THREADS": "1", "PATH": os.defpath}
    try:
        ended = subprocess.run(
            [*command, *(str(path.resolve()) for path in paths)],
            cwd=home,
            env=environment,
            timeout=seconds,
            capture_output=True,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Damaged(
            f"{paths[0]} could not be opened in time",
            received=f"more than {seconds:g} s",
            remedy="raise Trust(seconds=…) if the file is that large, or convert it to safetensors",
        ) from None
    if not (home / RESULT).is_file():
        said = ended.stderr.decode(errors="replace").strip().splitlines()
        raise Damaged(
            f"the process that opened {paths[0]} died",
            received=f"exit status {ended.returncode}: {said[-1][:300] if said else 'nothing said'}",
            allowed=f"{memory:,} bytes of memory beyond torch's own",
            remedy="raise Trust(memory=…) if the file is that large, or convert it to safetensors",
        )


#: What the other process may answer with, and what it becomes here.
_REFUSALS: dict[str, type[OntogenyError]] = {
    "untrusted": Untrusted,
    "foreign": ForeignCheckpoint,
    "damaged": Damaged,
}


def _result(home: Path, label: str) -> Unpickled:
    try:
        found = json.loads((home / RESULT).read_bytes())
    except ValueError as error:  # it died while it was answering
        raise Damaged(f"the process that opened {label} did not finish", received=str(error)) from error
    if refusal := found.get("refusal"):
        raise _REFUSALS[refusal](
            f"{label}: {found['what']}",
            received=found["received"],
            allowed=found["allowed"],
            remedy=found["remedy"],
        )
    spans = read_header(home / TENSORS)
    with open(home / TENSORS, "rb") as file:
        held = {name: read_tensor(file, spans[name]) for name in found["names"]}
    for name in found["complex"]:
        held[name] = torch.view_as_complex(held[name])
    return Unpickled(held, found["aliases"], found["document"], tuple(found["notes"]))
