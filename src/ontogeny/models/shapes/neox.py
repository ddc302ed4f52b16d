"""GPT-NeoX without its parallel residual: LayerNorm before, rotary positions, biases everywhere, a plain MLP.

Query, key and value are one map, interleaved by head: the first head's query, key and value, then the
second's. All features of a head are rotated (`rotary_pct` 1).
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from ontogeny.models.config import DecoderConfig

BLOCK = {
    "attention_norm": "input_layernorm",
    "attention.output": "attention.dense",
    "mlp_norm": "post_attention_layernorm",
    "mlp.up": "mlp.dense_h_to_4h",
    "mlp.down": "mlp.dense_4h_to_h",
}
FUSED = ("attention.query", "attention.key", "attention.value")


def matches(config: DecoderConfig) -> bool:
    return (
        (config.norm, config.norm_place) == ("layernorm", "pre")
        and config.positions == "rotary"
        and config.mlp in ("gelu", "relu", "relu2")
        and config.bias
        and not config.qk_norm
        and config.key_heads == config.heads
        and config.loops == 1
    )


def hf_config(config: DecoderConfig) -> dict[str, Any]:
    return {
        "architectures": ["GPTNeoXForCausalLM"],
        "model_type": "gpt_neox",
        "vocab_size": config.vocabulary,
        "max_position_embeddings": config.context,
        "hidden_size": config.width,
        "intermediate_size": config.neurons,
        "num_hidden_layers": config.layers,
        "num_attention_heads": config.heads,
        "hidden_act": config.mlp,
        "layer_norm_eps": config.norm_eps,
        "rotary_emb_base": config.rotary_base,
        "rotary_pct": 1.0,
        "use_parallel_residual": False,
        "attention_bias": True,
        "attention_dropout": 0.0,
        "hidden_dropout": config.dropout,
        "initializer_range": config.init_scale,
        "tie_word_embeddings": config.tied,
    }


def names(config: DecoderConfig) -> dict[str, str]:
    """Our names and the family's of the tensors that are stored alike."""
    pairs = {
        "embedding.weight": "gpt_neox.embed_in.weight",
        "final_norm.weight": "gpt_neox.final_layer_norm.weight",
        "final_norm.bias": "gpt_neox.final_layer_norm.bias",
    }
    for layer in range(config.layers):
        for ours, theirs in BLOCK.items():
            for kind in ("weight", "bias"):
                pairs[f"blocks.{layer}.{ours}.{kind}"] = f"gpt_neox.layers.{layer}.{theirs}.{kind}"
    # The published name; transformers 5 calls it `lm_head` inside, and reads and writes this one.
    return pairs if config.tied else pairs | {"unembedding.weight": "embed_out.weight"}


def to_hf(config: DecoderConfig, state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    tensors = {theirs: state[ours] for ours, theirs in names(config).items()}
    for layer in range(config.layers):
        for kind in ("weight", "bias"):
            parts = [state[f"blocks.{layer}.{name}.{kind}"] for name in FUSED]
            by_head = torch.stack([part.unflatten(0, (config.heads, config.head_size)) for part in parts], 1)
            tensors[f"gpt_neox.layers.{layer}.attention.query_key_value.{kind}"] = by_head.flatten(0, 2)
    return tensors


def from_hf(config: DecoderConfig, state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    tensors = {ours: state[theirs] for ours, theirs in names(config).items()}
    for layer in range(config.layers):
        for kind in ("weight", "bias"):
            fused = state[f"gpt_neox.layers.{layer}.attention.query_key_value.{kind}"]
            parts = fused.unflatten(0, (config.heads, 3, config.head_size)).unbind(1)
            for name, part in zip(FUSED, parts, strict=True):
                tensors[f"blocks.{layer}.{name}.{kind}"] = part.flatten(0, 1).contiguous()
    return tensors
