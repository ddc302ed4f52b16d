"""Small random models of three families, built from configs; nothing is downloaded."""

from pathlib import Path

import pytest
import torch

FAMILIES = ("llama", "gpt2", "gpt_neox")


def build(family: str, seed: int = 0, **changes):
    """A causal model of two layers, width 32, four heads (Llama: two key heads), vocabulary 61."""
    import transformers  # slow to import

    common = {"vocab_size": 61, "bos_token_id": None, "eos_token_id": None, "pad_token_id": None, **changes}
    configs = {
        "llama": lambda: transformers.LlamaConfig(
            hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
            intermediate_size=48, max_position_embeddings=64, initializer_range=0.2, **common,
        ),
        "gpt2": lambda: transformers.GPT2Config(
            n_embd=32, n_layer=2, n_head=4, n_positions=64, initializer_range=0.2, **common
        ),
        "gpt_neox": lambda: transformers.GPTNeoXConfig(
            hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48,
            max_position_embeddings=64, initializer_range=0.2, **common,
        ),
    }  # fmt: skip
    state = torch.get_rng_state()
    torch.manual_seed(seed)
    model = transformers.AutoModelForCausalLM.from_config(configs[family]())
    torch.set_rng_state(state)
    return model.eval()


@pytest.fixture(scope="session")
def built():
    """`built(family, seed)`: a model that no other test has seen."""
    pytest.importorskip("transformers")
    return build


@pytest.fixture(params=FAMILIES)
def model(request, built):
    return built(request.param)


@pytest.fixture(scope="session")
def folders(built, tmp_path_factory) -> dict[str, Path]:
    """One saved model a family."""
    home = tmp_path_factory.mktemp("families")
    for family in FAMILIES:
        built(family).save_pretrained(home / family)
    return {family: home / family for family in FAMILIES}


@pytest.fixture
def tokens() -> torch.Tensor:
    return torch.randint(61, (3, 24), generator=torch.Generator().manual_seed(5))
