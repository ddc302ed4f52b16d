"""Llama: RMSNorm before, rotary positions, grouped heads, SwiGLU, no biases. Every tensor is only renamed.

`transformers` has no dropout on what a Llama block writes: a run with dropout is equal in eval mode only.
"""

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from ontogeny.models.config import DecoderConfig

BLOCK = {
    "attention_norm": "input_layernorm",
    "attention.query": "self_attn.q_proj",
    "attention.key": "self_attn.k_proj",
    "attention.value": "self_attn.v_proj",
    "attention.output": "self_attn.o_proj",
    "mlp_norm": "post_attention_layernorm",
    "mlp.gate": "mlp.gate_proj",
    "mlp.up": "mlp.up_proj",
    "mlp.down": "mlp.down_proj",
}


def matches(config: DecoderConfig) -> bool:
    return (
        (config.norm, config.norm_place) == ("rmsnorm", "pre")
        and (config.positions, config.mlp) == ("rotary", "swiglu")
        and not (config.qk_norm or config.bias)
        and config.loops == 1
    )


def hf_config(config: DecoderConfig) -> dict[str, Any]:
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": config.vocabulary,
        "max_position_embeddings": config.context,
        "hidden_size": config.width,
        "head_dim": config.head_size,
        "intermediate_size": config.neurons,
        "num_hidden_layers": config.layers,
        "num_attention_heads": config.heads,
        "num_key_value_heads": config.key_heads,
        "hidden_act": "silu",
        "rms_norm_eps": config.norm_eps,
        "rope_theta": config.rotary_base,
        "attention_bias": False,
        "attention_dropout": 0.0,
        "mlp_bias": False,
        "initializer_range": config.init_scale,
        "tie_word_embeddings": config.tied,
    }


def names(config: DecoderConfig, block: Mapping[str, str] = BLOCK) -> dict[str, str]:
    """Our tensor names and the family's."""
    pairs = {"embedding": "model.embed_tokens", "final_norm": "model.norm"}
    for layer in range(config.layers):
        pairs |= {
            f"blocks.{layer}.{ours}": f"model.layers.{layer}.{theirs}" for ours, theirs in block.items()
        }
    if not config.tied:
        pairs["unembedding"] = "lm_head"
    return {f"{ours}.weight": f"{theirs}.weight" for ours, theirs in pairs.items()}


def to_hf(config: DecoderConfig, state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {theirs: state[ours] for ours, theirs in names(config).items()}


def from_hf(config: DecoderConfig, state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {ours: state[theirs] for ours, theirs in names(config).items()}
