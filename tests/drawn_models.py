"""Models and tokens that an oracle and the test beside it make alike, each in its own environment."""

from typing import Any

import numpy as np
import torch
import transformers

VOCABULARY, SEQUENCES = 61, 14
SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48}
FAMILIES: dict[str, tuple[str, dict[str, Any]]] = {
    "gpt2": ("GPT2", {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64}),
    "gpt_neox": ("GPTNeoX", {**SIZES, "max_position_embeddings": 64}),
    "llama": ("Llama", {**SIZES, "max_position_embeddings": 64, "num_key_value_heads": 2}),
}


def filled(family: str) -> Any:
    """A model whose parameters are drawn in the order of their names."""
    name, said = FAMILIES[family]
    none = dict.fromkeys(("bos_token_id", "eos_token_id", "pad_token_id"))
    config = getattr(transformers, f"{name}Config")(**said, vocab_size=VOCABULARY, **none)
    config.pad_token_id = None
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    rng = np.random.RandomState(0)
    with torch.no_grad():
        for path, parameter in sorted(model.named_parameters()):
            drawn = torch.from_numpy(rng.standard_normal(parameter.shape)).float()
            gain = parameter.ndim == 1 and path.endswith("weight")
            parameter.copy_(1 + 0.3 * drawn if gain else 0.3 * drawn)
    return model


def repeated() -> tuple[np.ndarray, list[int]]:
    """Blocks of 12 to 15 different tokens, each twice, and what is left of the row; their lengths."""
    rng = np.random.RandomState(1)
    lags = [12 + number % 4 for number in range(SEQUENCES)]
    blocks = [rng.permutation(VOCABULARY)[:lag] for lag in lags]
    rest = [rng.randint(VOCABULARY, size=30 - 2 * lag) for lag in lags]
    rows = [np.concatenate([block, block, other]) for block, other in zip(blocks, rest, strict=True)]
    return np.stack(rows), lags
