"""Decoders written in, and read from, the layout that `transformers` loads as it is.

A family is one file with four functions; `transformers` itself is not needed. A decoder that has no family's
shape keeps our own tensor names under the model type "ontogeny".
"""

from collections.abc import Mapping
from dataclasses import asdict
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Protocol

import torch
from torch import Tensor

from ontogeny.errors import ForeignCheckpoint
from ontogeny.models.config import DecoderConfig
from ontogeny.models.decoder import Decoder
from ontogeny.models.shapes import gpt2, llama, neox, qwen3


class Family(Protocol):
    """What a family's file holds. A conversion moves tensors and changes no bit of their elements."""

    def matches(self, config: DecoderConfig) -> bool: ...
    def hf_config(self, config: DecoderConfig) -> dict[str, Any]: ...
    def to_hf(self, config: DecoderConfig, state: Mapping[str, Tensor]) -> dict[str, Tensor]: ...
    def from_hf(self, config: DecoderConfig, state: Mapping[str, Tensor]) -> dict[str, Tensor]: ...


FAMILIES: dict[str, Family] = {"llama": llama, "qwen3": qwen3, "gpt2": gpt2, "neox": neox}


def family_of(config: DecoderConfig) -> str | None:
    """The family whose shape this decoder has exactly, or None."""
    return next((name for name, family in FAMILIES.items() if family.matches(config)), None)


def export_state(
    config: DecoderConfig, state: Mapping[str, Tensor]
) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """What to write as `config.json` and `model.safetensors`, from a decoder's `state_dict()`.

    A tied embedding is there once. Tensors that are only renamed share memory with `state`. The key
    "ontogeny" holds the whole `DecoderConfig`, which `transformers` keeps and does not read.
    `ForeignCheckpoint` if `state` is not that of a decoder of this config.
    """
    _check(state, _shapes(config))
    family = family_of(config)
    if family is None:
        described = {"architectures": ["Decoder"], "model_type": "ontogeny"}
        tensors = dict(state)
    else:
        described, tensors = FAMILIES[family].hf_config(config), FAMILIES[family].to_hf(config, state)
        # The families' defaults are ids of their own tokenizers, which may lie outside our vocabulary.
        described |= {"bos_token_id": None, "eos_token_id": None}
    dtype = str(state["embedding.weight"].dtype).removeprefix("torch.")
    return described | {"torch_dtype": dtype, "ontogeny": asdict(config)}, tensors


def import_state(
    hf_config: Mapping[str, Any], tensors: Mapping[str, Tensor]
) -> tuple[DecoderConfig, dict[str, Tensor]]:
    """The inverse of `export_state`, bit for bit: the config and a state for `Decoder.load_state_dict`.

    `ForeignCheckpoint` if the folder was not written by `export_state`, or if any tensor is missing, left
    over or of another shape; `BadRecipe` if the recorded config is one no decoder can have.
    """
    if "ontogeny" not in hf_config:
        raise ForeignCheckpoint(
            "this checkpoint does not say which decoder it belongs to",
            received=f"model_type {hf_config.get('model_type')!r} without the key 'ontogeny'",
            allowed="a folder that ontogeny wrote",
            remedy="open other people's checkpoints with transformers",
        )
    config = DecoderConfig.from_dict(hf_config["ontogeny"])
    family = family_of(config)
    expected = _shapes(config) if family is None else FAMILIES[family].to_hf(config, _shapes(config))
    _check(tensors, expected)
    return config, dict(tensors) if family is None else FAMILIES[family].from_hf(config, tensors)


@lru_cache(maxsize=8)  # a series has one architecture, and building it takes longer than reading its tensors
def _shapes(config: DecoderConfig) -> Mapping[str, Tensor]:
    """A decoder's state without memory behind it."""
    with torch.device("meta"):
        return MappingProxyType(dict(Decoder(config).state_dict()))


def _check(tensors: Mapping[str, Tensor], expected: Mapping[str, Tensor]) -> None:
    missing = sorted(expected.keys() - tensors.keys())
    unexpected = sorted(tensors.keys() - expected.keys())
    common = expected.keys() & tensors.keys()
    mismatched = [
        f"{name} {list(tensors[name].shape)} instead of {list(expected[name].shape)}"
        for name in sorted(common)
        if tensors[name].shape != expected[name].shape
    ]
    if missing or unexpected or mismatched:
        raise ForeignCheckpoint(
            f"{len(common) - len(mismatched)} of the model's {len(expected)} tensors are in this checkpoint",
            received="; ".join(
                f"{len(names)} {fault}: {', '.join(names[:3])}{' …' if len(names) > 3 else ''}"
                for fault, names in (
                    ("missing", missing),
                    ("unexpected", unexpected),
                    ("mismatched", mismatched),
                )
                if names
            ),
            allowed="exactly the tensors of the decoder in config.json, in their shapes",
            remedy="check that config and tensors are of one checkpoint",
        )
