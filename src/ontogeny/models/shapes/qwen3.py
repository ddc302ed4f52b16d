"""Qwen3: Llama with an RMSNorm over each head's query and key. Every tensor is only renamed.

As for Llama, a run with dropout is equal in eval mode only.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from torch import Tensor

from ontogeny.models.config import DecoderConfig
from ontogeny.models.shapes import llama

BLOCK = llama.BLOCK | {
    "attention.query_norm": "self_attn.q_norm",
    "attention.key_norm": "self_attn.k_norm",
}


def matches(config: DecoderConfig) -> bool:
    return config.qk_norm and llama.matches(replace(config, qk_norm=False))


def hf_config(config: DecoderConfig) -> dict[str, Any]:
    described = llama.hf_config(config) | {"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3"}
    del described["mlp_bias"]
    return described | {"use_sliding_window": False}


def to_hf(config: DecoderConfig, state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {theirs: state[ours] for ours, theirs in llama.names(config, BLOCK).items()}


def from_hf(config: DecoderConfig, state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {ours: state[theirs] for ours, theirs in llama.names(config, BLOCK).items()}
