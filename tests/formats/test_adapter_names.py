"""Names with adapters mean what they say by their place, whatever the adapter is called."""

import pytest

from ontogeny.formats.adapter_names import PLAIN, base_names, target_of

BASE = {"model.layers.0.q_proj.weight", "model.layers.0.q_proj.bias", "model.embed.weight", "lm_head.weight"}
Q = "model.layers.0.q_proj"


@pytest.mark.parametrize("wrapper", ["", "base_model.model.", "module.base_model.model."])
@pytest.mark.parametrize("adapter", ["", "default", "lora", "lora_A", "lora_B", "weight", "q_proj"])
@pytest.mark.parametrize("kind", ["lora_A", "lora_B"])
def test_a_matrix_is_found_under_any_wrapper_and_adapter(wrapper, adapter, kind):
    found = target_of(".".join(filter(None, [f"{wrapper}{Q}.{kind}", adapter, "weight"])), BASE)
    assert found is not None
    assert (found.base, found.kind, found.adapter) == (f"{Q}.weight", kind, adapter)


@pytest.mark.parametrize("adapter", ["", "default", "lora"])
def test_matrices_of_embeddings_have_no_leaf(adapter):
    found = target_of(
        ".".join(filter(None, ["base_model.model.model.embed.lora_embedding_A", adapter])), BASE
    )
    assert found is not None
    assert (found.base, found.kind) == ("model.embed.weight", "lora_embedding_A")


def test_modules_that_are_trained_whole_replace_the_bases():
    for name in ("base_model.model.lm_head.weight", "lm_head.modules_to_save.default.weight"):
        found = target_of(name, BASE)
        assert found is not None
        assert (found.base, found.kind) == ("lm_head.weight", PLAIN)


def test_a_module_that_is_called_like_a_kind_is_a_module():
    base = {"lora_A.weight", "lora_A.lora_B.weight"}
    found = target_of("base_model.model.lora_A.lora_B.lora_A.default.weight", base)
    assert found is not None
    assert (found.base, found.kind, found.adapter) == ("lora_A.lora_B.weight", "lora_A", "default")


def test_what_belongs_nowhere_is_nothing():
    for name in (
        "base_model.model.model.layers.9.q_proj.lora_A.weight",
        f"{Q}.lora_magnitude_vector",
        "lora_A",
    ):
        assert target_of(name, BASE) is None
    bias = target_of(f"{Q}.lora_B.bias", BASE)
    assert bias is not None
    assert bias.bias


def test_a_wrapped_models_own_tensors_have_the_bare_models_names():
    wrapped = [
        f"base_model.model.{Q}.base_layer.weight",
        f"base_model.model.{Q}.base_layer.bias",
        f"base_model.model.{Q}.lora_A.lora.weight",
        f"base_model.model.{Q}.lora_B.lora.weight",
        "base_model.model.model.embed.weight",
        "base_model.model.lm_head.original_module.weight",
        "base_model.model.lm_head.modules_to_save.lora.weight",
    ]
    assert set(base_names(wrapped).values()) == BASE
    assert base_names(BASE) == {name: name for name in BASE}
