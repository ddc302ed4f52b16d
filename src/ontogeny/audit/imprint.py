"""What an audit keeps of a checkpoint: a hash of every tensor, and a few hundred of its entries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import torch
import xxhash
from numpy.typing import NDArray
from torch import Tensor

from ontogeny.errors import OntogenyError
from ontogeny.formats.weights import StoredTensors, Weights
from ontogeny.series import LocalCheckpoint, SeriesCheckpoint
from ontogeny.series.recorded import recorded_step
from ontogeny.vocabulary import digest

#: Entries kept of every tensor: 2 KB each. A distance estimated from them is good to about 5 %.
SAMPLE = 512
#: Files beside a model with one of these beginnings hold the state of training.
_STATE = ("optimizer", "scheduler", "trainer_state", "training_state", "rng_state", "random_states", "state")


@dataclass(frozen=True)
class TensorPrint:
    """One tensor: the hash of its dtype, shape and bytes, and entries from places fixed by its name."""

    hash: str
    dtype: str
    shape: tuple[int, ...]
    sample: NDArray[np.float32]
    nonfinite: int = 0
    file: str = ""


@dataclass(frozen=True)
class Imprint:
    """One checkpoint.

    hash      of its files, as the series gives it
    content   of its tensors alone: equal for equal tensors, however they were saved
    recorded  the step that the trainer's own files say; None where there are none
    state     of the files of the trainer beside the model; None where there are none
    failure   why it could not be read; then it has no tensors
    """

    step: int
    label: str
    hash: str = ""
    content: str = ""
    tensors: Mapping[str, TensorPrint] = field(default_factory=dict)
    recorded: int | None = None
    state: str | None = None
    failure: str | None = None


def imprint(checkpoint: SeriesCheckpoint) -> Imprint:
    """Read one checkpoint. An error of the laboratory, or of the disk, becomes the imprint's `failure`."""
    try:
        weights = checkpoint.weights()
        tensors = {
            name: _print(name, weights.tensors[name], _file(weights, name)) for name in weights.tensors
        }
        found = Imprint(checkpoint.step, checkpoint.label, checkpoint.hash, _content(tensors), tensors)
        if isinstance(checkpoint, LocalCheckpoint):
            path = checkpoint.path
            found = replace(found, recorded=recorded_step(path), state=state_hash(path))
        return found
    except (OntogenyError, OSError, EOFError) as error:
        return Imprint(checkpoint.step, checkpoint.label, failure=str(error))


def outline(checkpoint: SeriesCheckpoint) -> Imprint:
    """An imprint of the hash alone, without tensors; no tensor is read of a run's own checkpoint."""
    try:
        return Imprint(checkpoint.step, checkpoint.label, checkpoint.hash, checkpoint.hash)
    except (OntogenyError, OSError) as error:
        return Imprint(checkpoint.step, checkpoint.label, failure=str(error))


def thinned(imprints: Sequence[Imprint]) -> list[Imprint]:
    """The imprints with tensors only where series are compared: of the first, and the first that differs."""
    readable = [one for one in imprints if one.content]
    needed = {one.content: one for one in reversed(readable)}
    kept = [needed[content] for content in list(dict.fromkeys(one.content for one in readable))[:2]]
    return [one if any(one is other for other in kept) else replace(one, tensors={}) for one in imprints]


def places(name: str, count: int) -> NDArray[np.int64]:
    """Where a tensor of `count` entries is sampled: everywhere if small, else at places drawn by its name."""
    if count <= SAMPLE:
        return np.arange(count)
    seed = xxhash.xxh3_64_intdigest(f"{name}:{count}".encode())
    return np.sort(np.random.default_rng(seed).integers(0, count, SAMPLE))


def state_hash(path: Path) -> str | None:
    """A hash of the files in which a trainer keeps its own state (optimizer, counters, random numbers)."""
    state, found = xxhash.xxh3_64(), False
    for file in sorted(path.glob("*")) if path.is_dir() else []:
        if not file.is_file() or not file.name.startswith(_STATE):
            continue
        found = True
        state.update(f"{file.name} {file.stat().st_size}\n".encode())
        with file.open("rb") as stream:
            while block := stream.read(1 << 24):
                state.update(block)
    return state.hexdigest() if found else None


def _print(name: str, tensor: Tensor, file: str) -> TensorPrint:
    dtype, shape = str(tensor.dtype).removeprefix("torch."), tuple(tensor.shape)
    flat = tensor.detach().cpu().reshape(-1)
    bad = int((~torch.isfinite(flat)).sum()) if flat.is_floating_point() else 0
    sample = flat[torch.from_numpy(places(name, flat.numel()))].to(torch.float32).numpy().copy()
    return TensorPrint(f"{digest([tensor.detach().cpu()]):016x}", dtype, shape, sample, bad, file)


def _file(weights: Weights, name: str) -> str:
    return weights.tensors.spans[name][0].name if isinstance(weights.tensors, StoredTensors) else ""


def _content(tensors: Mapping[str, TensorPrint]) -> str:
    state = xxhash.xxh3_64()
    for name in sorted(tensors):
        state.update(f"{name} {tensors[name].hash}\n".encode())
    return state.hexdigest()
