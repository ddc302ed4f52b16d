"""The tap in transformers' attention-interface registry."""

import pytest
import torch

from ontogeny.hooks.attention_interface import _active, tapped_attention
from ontogeny.hooks.watch import Watch
from ontogeny.vocabulary import Place

transformers = pytest.importorskip("transformers")
TOKENS = torch.arange(24).view(2, 12) % 11


def llama(**changes):
    config = transformers.LlamaConfig(
        vocab_size=11, hidden_size=16, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=1,
        intermediate_size=16, initializer_range=0.3, **changes,
    )  # fmt: skip
    torch.manual_seed(0)
    return transformers.AutoModelForCausalLM.from_config(config).eval()


def logits(model, **more):
    with torch.no_grad():
        return model(input_ids=TOKENS, use_cache=False, **more).logits


def watching(model, tap, site: str = "attention"):
    """`tap(layer, tensor)` at a site of every attention module."""
    return tapped_attention(
        model,
        {
            layer.self_attn: {
                site: Watch(site, "", [Place(layer=k)], lambda place, x: tap(place["layer"], x))
            }
            for k, layer in enumerate(model.model.layers)
        },
    )


def test_a_replaced_pattern_goes_through_the_groups_value():
    model = llama()
    with watching(model, lambda layer, pattern: pattern.clone()):
        put_back = logits(model)
    torch.testing.assert_close(put_back, logits(model), atol=1e-5, rtol=0)
    with watching(model, lambda layer, pattern: pattern.flip(1)):
        flipped = logits(model)
    assert (flipped - put_back).abs().max() > 1e-3


@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
def test_the_implementation_is_put_back(implementation):
    model = llama(attn_implementation=implementation)

    def fails():
        with watching(model, lambda layer, pattern: None):
            assert model.config._attn_implementation != implementation
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fails()
    assert model.config._attn_implementation == implementation


def test_nested_taps_are_all_asked_in_order():
    model, heard = llama(), []
    with watching(model, lambda layer, pattern: heard.append(("outer", layer))):
        with watching(model, lambda layer, pattern: heard.append(("inner", layer))):
            logits(model)
        logits(model)
    assert heard == [
        ("outer", 0), ("inner", 0), ("outer", 1), ("inner", 1), ("outer", 0), ("outer", 1),
    ]  # fmt: skip
    assert not _active


def test_another_model_run_meanwhile_is_not_shown():
    model, other, heard = llama(), llama(), []
    other.config = model.config
    with watching(model, lambda layer, pattern: heard.append(layer)):
        logits(other)
        assert not heard
        logits(model)
    assert heard == [0, 1]


@pytest.mark.parametrize(("site", "heads"), [("query", 4), ("key", 1), ("value", 1)])
def test_what_attention_is_given_may_be_replaced(site, heads):
    model, shapes = llama(), []

    def seen(layer, tensor):
        shapes.append(tensor.shape)

    with watching(model, seen, site):
        plain = logits(model)
    assert shapes == [(2, heads, 12, 4)] * 2
    with watching(model, lambda layer, tensor: tensor.flip(2), site):
        assert (logits(model) - plain).abs().max() > 1e-3


def test_padding_stays_masked():
    model, seen = llama(), []
    mask = torch.ones(2, 12, dtype=torch.long)
    mask[0, :5] = 0
    with watching(model, lambda layer, pattern: seen.append(pattern)):
        logits(model, attention_mask=mask)
    assert all(pattern[0, :, 5:, :5].abs().max() == 0 for pattern in seen)
    assert all(pattern[1, :, 5:, :5].abs().max() > 0 for pattern in seen)
