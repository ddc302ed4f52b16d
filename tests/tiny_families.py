"""Small random models of every family, built from configs; nothing is downloaded."""

from typing import Any

import torch
from torch import nn

COMMON = {"vocab_size": 61, "bos_token_id": None, "eos_token_id": None, "pad_token_id": None}
SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48}
WIDE = {**SIZES, "max_position_embeddings": 64, "initializer_range": 0.2}
GROUPED = {**WIDE, "num_key_value_heads": 2}
GPT2 = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64, "initializer_range": 0.2}

#: Of families that have a map of their own: the config's class and what it is given.
FAMILIES: dict[str, tuple[str, dict[str, Any]]] = {
    "gpt2": ("GPT2", GPT2),
    "gpt_neox": ("GPTNeoX", WIDE),
    "gpt_neox in a row": ("GPTNeoX", {**WIDE, "use_parallel_residual": False}),
    "llama": ("Llama", GROUPED),
    "mistral": ("Mistral", {**GROUPED, "sliding_window": 5}),
    "qwen2": ("Qwen2", GROUPED),
    "qwen3": ("Qwen3", {**GROUPED, "head_dim": 16}),
    "olmo": ("Olmo", GROUPED),
    "olmo2": ("Olmo2", GROUPED),
    "smollm3": ("SmolLM3", GROUPED),
    "gemma": ("Gemma", {**GROUPED, "head_dim": 16}),
    "gemma2": ("Gemma2", {**GROUPED, "head_dim": 16, "sliding_window": 5, "final_logit_softcapping": 2.0}),
    "gemma3": ("Gemma3Text", {**GROUPED, "head_dim": 16, "sliding_window": 5}),
    "phi": ("Phi", GROUPED),
    "mixtral": ("Mixtral", {**GROUPED, "num_local_experts": 4}),
    "olmoe": ("Olmoe", {**GROUPED, "num_experts": 4, "num_experts_per_tok": 2}),
    "bert": ("Bert", WIDE),
}

#: Of families without one.
OTHERS: dict[str, tuple[str, dict[str, Any]]] = {
    "gptj": ("GPTJ", {**GPT2, "rotary_dim": 4}),
    "opt": ("OPT", {**SIZES, "ffn_dim": 48, "word_embed_proj_dim": 32, "max_position_embeddings": 64}),
    "bloom": ("Bloom", {"hidden_size": 32, "n_layer": 2, "n_head": 4}),
    "phi3": ("Phi3", GROUPED),
    "granite": ("Granite", {**GROUPED, "residual_multiplier": 0.5, "logits_scaling": 2.0}),
    "cohere": ("Cohere", GROUPED),
    "stablelm": ("StableLm", GROUPED),
    "starcoder2": ("Starcoder2", GROUPED),
}
EXPERTS = ("mixtral", "olmoe")


def tiny(family: str, seed: int = 0, head: bool = True, **changes: Any) -> nn.Module:
    """A model of two layers, width 32, four heads, vocabulary 61, in eval mode; no parameter is constant."""
    import transformers  # slow to import

    name, said = {**FAMILIES, **OTHERS}[family]
    kernel = changes.pop("attn_implementation", None)
    config = getattr(transformers, f"{name}Config")(**{**COMMON, **said, **changes})
    config.pad_token_id = None
    auto = transformers.AutoModelForMaskedLM if family == "bert" else transformers.AutoModelForCausalLM
    maker: Any = auto if head else transformers.AutoModel
    before = torch.get_rng_state()
    torch.manual_seed(seed)
    model = maker.from_config(config, **({} if kernel is None else {"attn_implementation": kernel}))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    torch.set_rng_state(before)
    return model.eval()


def tokens(sequences: int = 3, length: int = 24) -> torch.Tensor:
    return torch.randint(61, (sequences, length), generator=torch.Generator().manual_seed(5))
