"""A training state as tensors and documents, and back: what a checkpoint holds.

The optimizer's state is keyed by parameter name, never by position; groups are kept verbatim, empty ones
too. A saveable part may give tensors and plain values, nested in mappings, lists and tuples.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from ontogeny.errors import BadContract, ForeignCheckpoint
from ontogeny.models import Decoder
from ontogeny.models.shapes import export_state
from ontogeny.record.digests import persistent_tensors
from ontogeny.record.norms import named_trainable
from ontogeny.vocabulary import TrainingState

Tensors = dict[str, Tensor]
Documents = dict[str, dict[str, Any]]

_TENSOR, _TUPLE, _PAIRS = "tensor", "tuple", "pairs"
_TAGS = ({_TENSOR}, {_TUPLE}, {_PAIRS})


def split_tensors(value: Any, path: str, tensors: Tensors) -> Any:
    """`value` with every tensor put into `tensors` under its path and replaced by a reference to it.

    Tuples are tagged; mappings that JSON could not hold as they are (keys that are no text) become pairs.
    BadContract for anything else than tensors, plain values and nestings of them.
    """
    if isinstance(value, Tensor):
        tensors[path] = value.detach()
        return {_TENSOR: path}
    if isinstance(value, Mapping):
        items = [(key, split_tensors(item, f"{path}/{key}", tensors)) for key, item in value.items()]
        if all(isinstance(key, str) for key in value) and set(value) not in _TAGS:
            return dict(items)
        return {_PAIRS: [[split_tensors(key, f"{path}/key", tensors), item] for key, item in items]}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        found = [split_tensors(item, f"{path}/{index}", tensors) for index, item in enumerate(value)]
        return {_TUPLE: found} if isinstance(value, tuple) else found
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise BadContract(
        f"{path} cannot be saved",
        received=type(value).__name__,
        allowed="tensors, numbers, text, None, and mappings, lists or tuples of these",
    )


def join_tensors(value: Any, tensors: Mapping[str, Tensor]) -> Any:
    """The inverse of `split_tensors`; a sequence that is neither list nor tuple comes back as a list."""
    if isinstance(value, Mapping):
        if set(value) == {_TENSOR}:
            return tensors[value[_TENSOR]]
        if set(value) == {_TUPLE}:
            return tuple(join_tensors(item, tensors) for item in value[_TUPLE])
        if set(value) == {_PAIRS}:
            return {join_tensors(key, tensors): join_tensors(item, tensors) for key, item in value[_PAIRS]}
        return {key: join_tensors(item, tensors) for key, item in value.items()}
    return [join_tensors(item, tensors) for item in value] if isinstance(value, list) else value


def _names(optimizer: torch.optim.Optimizer, model: nn.Module) -> dict[int, str]:
    """The name of each parameter of the optimizer, by its id."""
    names = {id(parameter): name for name, parameter in named_trainable(model).items()}
    strangers = [p for group in optimizer.param_groups for p in group["params"] if id(p) not in names]
    if strangers:
        raise BadContract(
            "the optimizer holds parameters that the model does not have",
            received=f"{len(strangers)}, the first of type {type(strangers[0]).__name__}",
            allowed="parameters that model.named_parameters() lists",
            remedy="give the Recorder the module that holds them all",
        )
    return names


def optimizer_by_name(optimizer: torch.optim.Optimizer, model: nn.Module) -> dict[str, Any]:
    """The optimizer's state with parameter names in place of numbers."""
    names = _names(optimizer, model)
    state = {names[id(p)]: entry for p, entry in optimizer.state.items() if isinstance(p, Tensor)}
    groups = []
    for group in optimizer.param_groups:
        kept = {key: value for key, value in group.items() if key != "params"}
        groups.append({**kept, "params": [names[id(p)] for p in group["params"]]})
    return {"state": state, "groups": groups}


def load_optimizer_by_name(optimizer: torch.optim.Optimizer, model: nn.Module, saved: Mapping) -> None:
    """Put back what `optimizer_by_name` gave. Groups that had been added when it was saved are added;
    ForeignCheckpoint if the others hold other parameters."""
    names = _names(optimizer, model)
    there = [list(group["params"]) for group in saved["groups"]]
    _add_groups(optimizer, model, there)
    here = [[names[id(p)] for p in group["params"]] for group in optimizer.param_groups]
    if here != there:
        raise ForeignCheckpoint(
            "the optimizer's groups hold other parameters", received=there, allowed=str(here)
        )
    order = [name for group in here for name in group]
    groups, start = [], 0
    for group in saved["groups"]:
        count = len(group["params"])
        groups.append({**group, "params": list(range(start, start + count))})
        start += count
    groups = [{k: tuple(v) if k == "betas" else v for k, v in group.items()} for group in groups]
    state = {index: saved["state"][name] for index, name in enumerate(order) if name in saved["state"]}
    optimizer.load_state_dict({"state": state, "param_groups": groups})
    _undo_casts(optimizer, names, saved["state"])


def _add_groups(optimizer: torch.optim.Optimizer, model: nn.Module, groups: list[list[str]]) -> None:
    parameters = named_trainable(model)
    for group in groups[len(optimizer.param_groups) :]:
        if all(name in parameters for name in group):
            optimizer.add_param_group({"params": [parameters[name] for name in group]})


def _undo_casts(optimizer: torch.optim.Optimizer, names: Mapping[int, str], saved: Mapping) -> None:
    """torch loads state in the dtype of its parameter: float32 moments of a bfloat16 weight would be cut."""
    for parameter, entry in optimizer.state.items():
        for key, value in saved.get(names.get(id(parameter), ""), {}).items():
            if isinstance(value, Tensor) and value.dtype is not entry[key].dtype:
                entry[key] = value.to(entry[key].device, copy=True)


def model_content(model: nn.Module) -> tuple[Tensors, Documents]:
    """A model's tensors and its `config.json`, in the `transformers` layout where it has such a shape."""
    if isinstance(model, Decoder):
        config, tensors = export_state(model.config, dict(model.state_dict()))
        return dict(tensors), {"config": config}
    config = getattr(model, "config", None)
    document = config.to_dict() if config is not None and hasattr(config, "to_dict") else {}
    return dict(persistent_tensors(model)), {"config": document} if document else {}


def require_free_names(parts: Mapping[str, Any]) -> None:
    """BadContract if a part has a name that the state document of a checkpoint uses itself."""
    if taken := {"frozen", "random"} & set(parts):
        raise BadContract("a part of the training state has a name that is taken", received=sorted(taken))


def state_content(
    state: TrainingState, *, with_optimizer: bool = True
) -> tuple[dict[str, Tensors], Documents]:
    """Everything a checkpoint of this state holds, as references to live memory."""
    model = state["model"]
    tensors: dict[str, Tensors] = {}
    tensors["model"], documents = model_content(model)
    rest: Tensors = {}
    trainable = named_trainable(model)
    document: dict[str, Any] = {"frozen": [name for name, p in trainable.items() if not p.requires_grad]}
    for name, part in state.items():
        if name == "model":
            continue
        if name == "optimizer":
            if with_optimizer:
                tensors["optimizer"] = {}
                saved = optimizer_by_name(state["optimizer"], model)
                document[name] = split_tensors(saved, name, tensors["optimizer"])
            continue
        document[name] = split_tensors(part.state_dict(), name, rest)
    if rest:
        tensors["extra"] = rest
    return tensors, {**documents, "state": document}


def snapshot(tensors: Mapping[str, Mapping[str, Tensor]]) -> dict[str, Tensors]:
    """A copy on the CPU that training can no longer change."""
    return {
        group: {name: tensor.detach().to("cpu", copy=True) for name, tensor in content.items()}
        for group, content in tensors.items()
    }
