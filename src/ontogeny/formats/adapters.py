"""A PEFT adapter over a base: low-rank matrices, merged into the base's weights.

An adapter's tensor is matched to its base by structure: its name is a path of the base's modules, then the
kind of matrix, then perhaps the adapter's own name. Neither is looked for anywhere else in the name, so an
adapter may be called "lora", and may have been attached with or without PEFT's wrapper around the model.
"""

import math
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ontogeny.errors import ForeignCheckpoint
from ontogeny.formats.adapter_names import PLAIN, target_of
from ontogeny.formats.canonical import examples
from ontogeny.formats.safetensors_files import read_document, weights_in
from ontogeny.formats.sandbox import unpickled
from ontogeny.formats.weights import NO_PICKLES, Trust, Weights

name = "peft-adapter"
looks_like = "a folder with adapter_config.json and adapter_model.safetensors or adapter_model.bin"

CONFIG, STORED, PICKLED = "adapter_config.json", "adapter_model.safetensors", "adapter_model.bin"


def claims(path: Path) -> bool:
    return (path / CONFIG).is_file() and any((path / file).is_file() for file in (STORED, PICKLED))


def files(path: Path) -> tuple[Path, ...]:
    """The adapter's files and its base's, where the base is on this machine."""
    from ontogeny import formats  # the base may be of any format, this one among them

    base = base_of(path)
    return (path / CONFIG, _file(path), *(formats.files(base) if base else ()))


def read(path: Path, *, trust: Trust = NO_PICKLES, base: Path | None = None) -> Weights:
    """The base with the adapter merged into it. `base` replaces the path in adapter_config.json.

    Merged tensors are float32; the others are the base's own, bit for bit.
    """
    from ontogeny import formats  # as above

    base = base or base_of(path)
    if base is None:
        raise ForeignCheckpoint(
            f"the base of the adapter {path} is not on this machine",
            received=str(read_document(path / CONFIG).get("base_model_name_or_path")),
            allowed="a folder, given as a path from here or from the adapter's folder",
            remedy="set base_model_name_or_path in its adapter_config.json, or pass base=…",
        )
    under = formats.read(base, trust=trust)
    held = _held(path, trust)
    merged = merge(under.tensors, held, read_document(path / CONFIG), str(path))
    note = f"adapter merged into {len(merged)} tensors of {base.name}"
    return replace(under, tensors={**under.tensors, **merged}).noted(note)


def base_of(path: Path) -> Path | None:
    """The base that adapter_config.json names, if it is a path that exists."""
    named = read_document(path / CONFIG).get("base_model_name_or_path")
    if not isinstance(named, str) or not named:
        return None
    places = (Path(named), Path(os.path.normpath(path / named)))
    return next((found for found in places if found.exists() and found != path), None)


def _file(path: Path) -> Path:
    return path / STORED if (path / STORED).is_file() else path / PICKLED


def _held(path: Path, trust: Trust) -> Mapping[str, Tensor]:
    if _file(path).name == STORED:
        return weights_in([path / STORED], {}).tensors
    return unpickled([path / PICKLED], trust=trust, kind="pickle").tensors


def merge(
    base: Mapping[str, Tensor], adapter: Mapping[str, Tensor], config: Mapping[str, Any], label: str
) -> dict[str, Tensor]:
    """The tensors of the base that an adapter changes, as it leaves them: W + (alpha / r) B A.

    alpha is divided by the root of r under `use_rslora`. ForeignCheckpoint for other kinds of adapters, and
    for tensors that belong to no tensor of the base, with their names.
    """
    targets = {name: target_of(name, base) for name in adapter}
    strange = [name for name, target in targets.items() if target is None or target.bias]
    if config.get("peft_type") != "LORA" or config.get("use_dora") or strange or not adapter:
        raise ForeignCheckpoint(
            f"{label} is an adapter that cannot be merged",
            received=f"{config.get('peft_type')}{' with DoRA' if config.get('use_dora') else ''}"
            + (f"; no place in the base for {examples(strange)}" if strange else ""),
            allowed="LoRA over linear maps and embeddings, and modules saved whole",
            remedy="merge it with peft (merge_and_unload) and save the result",
        )
    found = {
        target.base: adapter[name] for name, target in targets.items() if target and target.kind == PLAIN
    }
    pairs: dict[str, dict[str, Tensor]] = {}
    for name, target in targets.items():
        if target and target.kind != PLAIN:
            pairs.setdefault(target.base, {})[target.kind] = adapter[name]
    for name, pair in pairs.items():
        found[name] = base[name].float() + _delta(pair, name, base[name].shape, config, label)
    return found


def _delta(
    pair: Mapping[str, Tensor], name: str, shape: torch.Size, config: Mapping[str, Any], label: str
) -> Tensor:
    embedded = set(pair) == {"lora_embedding_A", "lora_embedding_B"}
    if not embedded and set(pair) != {"lora_A", "lora_B"}:
        raise ForeignCheckpoint(f"{label} holds half a pair for {name}", received=", ".join(pair))
    down, up = (pair[kind].float() for kind in sorted(pair))
    rank, alpha = down.shape[0], _alpha(config, name.rpartition(".")[0])
    delta = up @ down * (alpha / (math.sqrt(rank) if config.get("use_rslora") else rank))
    delta = delta.T if embedded or config.get("fan_in_fan_out") else delta
    if delta.shape != shape:
        raise ForeignCheckpoint(
            f"{label} does not fit its base",
            received=f"{name}: {list(delta.shape)} over {list(shape)}",
            remedy="give the base that the adapter was trained on",
        )
    return delta


def _alpha(config: Mapping[str, Any], module: str) -> float:
    for pattern, alpha in (config.get("alpha_pattern") or {}).items():
        if re.fullmatch(rf"(.*\.)?({pattern})", module):
            return float(alpha)
    return float(config.get("lora_alpha", 8))
