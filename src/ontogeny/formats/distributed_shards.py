"""Reading the shards of `torch.distributed.checkpoint` without any process group. Runs in the sandbox.

The metadata is a pickle that torch opens without restriction, and so are entries that are no tensors: here
the metadata may hold nothing but its own classes, and only tensors are read, which torch loads as weights.
"""

import pickle
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

import torch
from torch import Tensor

from ontogeny.errors import OntogenyError

METADATA = ".metadata"
#: First components of names that belong to the rest of a training state.
NOT_THE_MODEL = (
    "optimizer", "optimizers", "optim", "train_state", "dataloader", "lr_scheduler", "scheduler",
    "extra_state",
)  # fmt: skip
MODEL_KEYS = ("model", "state_dict", "module")
_ALLOWED = {
    "torch.distributed.checkpoint.metadata": {
        "Metadata", "TensorStorageMetadata", "BytesStorageMetadata", "ChunkStorageMetadata",
        "TensorProperties", "MetadataIndex", "StorageMeta", "_MEM_FORMAT_ENCODING",
    },
    "torch.distributed.checkpoint.filesystem": {"_StorageInfo"},
    "torch.serialization": {"_get_layout"},
    "torch": {"Size", *(name for name in dir(torch) if isinstance(getattr(torch, name), torch.dtype))},
    "collections": {"OrderedDict"},
    "pathlib": {"PosixPath", "WindowsPath", "PurePosixPath", "PureWindowsPath"},
}  # fmt: skip


class MetadataUnpickler(pickle.Unpickler):
    """Makes the classes of which torch's metadata consists, and refuses every other name."""

    def find_class(self, module: str, name: str, /) -> Any:
        if name in _ALLOWED.get(module, ()):
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"the metadata asks for {module}.{name}")


def load_shards(paths: Sequence[Path]) -> tuple[dict[str, Tensor], dict[str, Any], list[str]]:
    """The model's tensors in a folder of shards, with notes."""
    # Slow to import, and needed in the sandbox only.
    from torch.distributed.checkpoint.default_planner import DefaultLoadPlanner
    from torch.distributed.checkpoint.filesystem import FileSystemReader
    from torch.distributed.checkpoint.metadata import TensorStorageMetadata
    from torch.distributed.checkpoint.state_dict_loader import load

    folder = paths[0]
    with open(folder / METADATA, "rb") as file:
        metadata = MetadataUnpickler(file).load()

    class Reader(FileSystemReader):
        def read_metadata(self, *args: Any, **kwargs: Any) -> Any:
            return metadata

    _require_beside(metadata)
    stored = {
        key: entry
        for key, entry in metadata.state_dict_metadata.items()
        if isinstance(entry, TensorStorageMetadata)
    }
    names = model_names(stored, metadata.planner_data or {})
    state = {key: torch.empty(stored[key].size, dtype=stored[key].properties.dtype) for key in names}
    planner = DefaultLoadPlanner(flatten_state_dict=False, flatten_sharded_tensors=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch says that there is one process, which is so
        load(state, storage_reader=Reader(folder), planner=planner, no_dist=True)
    shards = len({info.relative_path for info in metadata.storage_data.values()})
    left = len(metadata.state_dict_metadata) - len(names)
    notes = [f"gathered from {shards} shards", f"{left} entries beside the model were left out"]
    return {names[key]: tensor for key, tensor in state.items()}, {}, notes


def model_names(keys: Mapping[str, Any], paths: Mapping[str, Any]) -> dict[str, str]:
    """Keys that belong to the model, with their names in it.

    `paths` holds, for each key, the components of the nested state it was flattened from. Where some lie
    below a component "model", only those are the model's.
    """
    split = {key: tuple(map(str, paths.get(key) or (key,))) for key in keys}
    below = {
        key: next((i for i, part in enumerate(path[:-1]) if part in MODEL_KEYS), None)
        for key, path in split.items()
    }
    if any(depth is not None for depth in below.values()):
        return {key: ".".join(split[key][depth + 1 :]) for key, depth in below.items() if depth is not None}
    rest = [key for key, path in split.items() if path[0].partition(".")[0] not in NOT_THE_MODEL]
    prefix = next((f"{p}." for p in MODEL_KEYS if rest and all(k.startswith(f"{p}.") for k in rest)), "")
    if not rest:
        raise OntogenyError("there is no model in these shards", received=", ".join(list(keys)[:5]))
    return {key: ".".join(split[key]).removeprefix(prefix) for key in rest}


def _require_beside(metadata: Any) -> None:
    strange = {
        info.relative_path
        for info in metadata.storage_data.values()
        if PurePath(info.relative_path).name != info.relative_path
    }
    if strange:
        raise OntogenyError(
            "the metadata names files outside the folder", received=", ".join(map(str, sorted(strange)[:3]))
        )
