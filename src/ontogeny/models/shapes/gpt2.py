"""GPT-2: LayerNorm before, learned positions, biases everywhere, a plain MLP.

Its linear maps are stored input × output (`Conv1D`), the transpose of ours, and query, key and value are one
map, side by side along the output.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from ontogeny.models.config import DecoderConfig

KEPT = {"attention_norm": "ln_1", "mlp_norm": "ln_2"}
TRANSPOSED = {"attention.output": "attn.c_proj", "mlp.up": "mlp.c_fc", "mlp.down": "mlp.c_proj"}
FUSED = ("attention.query", "attention.key", "attention.value")


def matches(config: DecoderConfig) -> bool:
    return (
        (config.norm, config.norm_place) == ("layernorm", "pre")
        and config.positions == "learned"
        and config.mlp in ("gelu", "relu", "relu2")
        and config.bias
        and not config.qk_norm
        and config.key_heads == config.heads
        and config.loops == 1
    )


def hf_config(config: DecoderConfig) -> dict[str, Any]:
    return {
        "architectures": ["GPT2LMHeadModel"],
        "model_type": "gpt2",
        "vocab_size": config.vocabulary,
        "n_positions": config.context,
        "n_embd": config.width,
        "n_inner": config.neurons,
        "n_layer": config.layers,
        "n_head": config.heads,
        "activation_function": config.mlp,
        "layer_norm_epsilon": config.norm_eps,
        "embd_pdrop": config.dropout,
        "resid_pdrop": config.dropout,
        "attn_pdrop": 0.0,
        "initializer_range": config.init_scale,
        "tie_word_embeddings": config.tied,
    }


def names(config: DecoderConfig) -> dict[str, str]:
    """Our names and the family's of the tensors that are stored alike."""
    pairs = {
        "embedding.weight": "transformer.wte.weight",
        "position_embedding.weight": "transformer.wpe.weight",
        "final_norm.weight": "transformer.ln_f.weight",
        "final_norm.bias": "transformer.ln_f.bias",
    }
    for layer in range(config.layers):
        for ours, theirs in (KEPT | TRANSPOSED).items():
            pairs[f"blocks.{layer}.{ours}.bias"] = f"transformer.h.{layer}.{theirs}.bias"
        for ours, theirs in KEPT.items():
            pairs[f"blocks.{layer}.{ours}.weight"] = f"transformer.h.{layer}.{theirs}.weight"
    return pairs if config.tied else pairs | {"unembedding.weight": "lm_head.weight"}


def to_hf(config: DecoderConfig, state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    tensors = {theirs: state[ours] for ours, theirs in names(config).items()}
    for layer in range(config.layers):
        ours, theirs = f"blocks.{layer}", f"transformer.h.{layer}"
        for name, foreign in TRANSPOSED.items():
            tensors[f"{theirs}.{foreign}.weight"] = state[f"{ours}.{name}.weight"].T.contiguous()
        weight = torch.cat([state[f"{ours}.{name}.weight"] for name in FUSED])
        tensors[f"{theirs}.attn.c_attn.weight"] = weight.T.contiguous()
        tensors[f"{theirs}.attn.c_attn.bias"] = torch.cat([state[f"{ours}.{name}.bias"] for name in FUSED])
    return tensors


def from_hf(config: DecoderConfig, state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    tensors = {ours: state[theirs] for ours, theirs in names(config).items()}
    for layer in range(config.layers):
        ours, theirs = f"blocks.{layer}", f"transformer.h.{layer}"
        for name, foreign in TRANSPOSED.items():
            tensors[f"{ours}.{name}.weight"] = state[f"{theirs}.{foreign}.weight"].T.contiguous()
        weights = state[f"{theirs}.attn.c_attn.weight"].T.contiguous().chunk(3)
        biases = state[f"{theirs}.attn.c_attn.bias"].chunk(3)
        for name, weight, bias in zip(FUSED, weights, biases, strict=True):
            tensors[f"{ours}.{name}.weight"], tensors[f"{ours}.{name}.bias"] = weight.clone(), bias.clone()
    return tensors
