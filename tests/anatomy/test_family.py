"""Families are known by their type or their structure, and their maps by what a config says."""

import pytest
import torch
from torch import nn

from ontogeny.anatomy import FAMILIES as DECLARED
from ontogeny.anatomy import read_anatomy
from ontogeny.anatomy.family import fits, path_of
from tiny_families import FAMILIES, OTHERS, tiny

pytest.importorskip("transformers")


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_is_recognised_by_its_type(family):
    model = tiny(family)
    found = read_anatomy(model)
    assert not found.guessed
    assert found.layers == 2
    assert (found.heads, found.width, found.vocabulary) == (4, 32, 61)
    assert found.key_value_heads == (getattr(model.config, "num_key_value_heads", None) or 4)
    assert found.causal == (family != "bert")
    assert model.get_submodule(found.embedding).weight.shape == (61, 32)
    assert model.get_submodule(found.unembedding).weight.shape == (61, 32)
    assert bool(found.final_norm) == (family != "bert")
    assert [path.startswith(block) for path, block in zip(found.mlp, found.blocks, strict=True)] == [True] * 2


@pytest.mark.parametrize("family", FAMILIES)
def test_no_type_is_claimed_by_two(family):
    kind = tiny(family).config.model_type
    assert sum(kind in declared.model_types for declared in DECLARED) == 1


@pytest.mark.parametrize("family", ["llama", "gpt2", "olmo2", "bert", "phi"])
def test_a_model_of_another_type_is_known_by_its_structure_and_only_guessed(family):
    model = tiny(family)
    by_type = read_anatomy(model)
    model.config.model_type = "relative"
    by_structure = read_anatomy(model)
    assert by_structure.guessed
    assert by_structure.sites == by_type.sites
    assert by_structure.projections == by_type.projections


def test_a_block_with_more_norms_than_a_llama_is_none():
    llama = next(family for family in DECLARED if family.name == "llama")
    assert fits(llama, tiny("qwen3"))
    assert not fits(llama, tiny("gemma2"))
    assert not fits(llama, tiny("gpt2"))
    assert not fits(llama, nn.Linear(2, 2))


@pytest.mark.parametrize("family", ["gptj", "opt", "bloom", "phi3"])
def test_what_fits_no_family_is_guessed_from_its_stack(family):
    found = read_anatomy(tiny(family))
    assert found.guessed
    assert found.projections is None
    assert not any(fits(declared, tiny(family)) for declared in DECLARED)
    assert set(OTHERS) >= {family}


def test_the_first_path_of_a_shared_module_is_its_path():
    shared = nn.Linear(2, 2)
    assert path_of(nn.Sequential(nn.ReLU(), shared, shared), shared) == "1"


def test_a_model_without_its_head_has_the_same_map_without_logits():
    whole, bare = read_anatomy(tiny("llama")), read_anatomy(tiny("llama", head=False))
    assert bare.blocks == tuple(block.removeprefix("model.") for block in whole.blocks)
    assert "logits" in whole.sites
    assert "logits" not in bare.sites
    assert "readout" not in bare.claims


def test_vision_models_and_encoder_decoders_show_their_modules():
    import transformers  # slow to import

    with torch.device("meta"):
        vit = transformers.ViTModel(
            transformers.ViTConfig(hidden_size=8, num_hidden_layers=1, num_attention_heads=2)
        )
        t5 = transformers.T5ForConditionalGeneration(
            transformers.T5Config(d_model=8, num_layers=1, vocab_size=11)
        )
    for model in (vit, t5):
        assert read_anatomy(model).blocks == ()
        assert read_anatomy(model).shows("module")
