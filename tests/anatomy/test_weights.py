"""Heads' weights in one layout: they make what the modules make, however they are stored."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from ontogeny.anatomy import Projections, read_anatomy
from ontogeny.anatomy.weights import (
    embedding,
    final_norm_gain,
    head_gains,
    head_weights,
    linear_weight,
    unembedding,
)
from ontogeny.errors import NotObservable
from ontogeny.models import Decoder, DecoderConfig
from tiny_families import FAMILIES, tiny

pytest.importorskip("transformers")
CLOSE = {"atol": 1e-5, "rtol": 1e-5}


def split(projected: torch.Tensor, said: Projections, heads: int) -> list[torch.Tensor]:
    """What a fused projection gives, as the model's own code takes it apart [position head channel]."""
    if said.fused == "by head":
        return list(projected.view(len(projected), heads, -1).chunk(3, -1))
    return [part.unflatten(-1, (heads, -1)) for part in projected.chunk(3, -1)]


@pytest.mark.parametrize("family", FAMILIES)
def test_queries_keys_values_and_outputs_are_those_of_the_modules(family):
    model = tiny(family)
    anatomy = read_anatomy(model)
    said = anatomy.projections
    given = torch.randn(5, 32, generator=torch.Generator().manual_seed(0))
    for layer, block in enumerate(anatomy.blocks):
        weights = head_weights(model, anatomy, layer)
        modules = {
            name: model.get_submodule(f"{block}.{path}")
            for name, path in vars(said).items()
            if name not in ("fused", "norm")
        }
        none = torch.zeros(1, 32)
        names = ("query", "key", "value")
        made = [modules[name](given) - modules[name](none) for name in names]
        if said.fused:
            made = split(made[0], said, 4)
        for name, expected in zip(names, made, strict=True):
            channels = anatomy.head_dim
            heads = expected.reshape(5, -1, channels)
            heads = heads.repeat_interleave(4 // heads.shape[1], 1)
            found = torch.einsum("hcw,pw->phc", getattr(weights, name), given)
            torch.testing.assert_close(found, heads, **CLOSE)
        mixed = torch.randn(5, 4, anatomy.head_dim, generator=torch.Generator().manual_seed(1))
        expected = modules["output"](mixed.flatten(1)) - modules["output"](mixed.flatten(1) * 0)
        torch.testing.assert_close(torch.einsum("hwc,phc->pw", weights.output, mixed), expected, **CLOSE)


@pytest.mark.parametrize("kv_heads", [1, 2, 4])
def test_our_grouped_heads_are_repeated(kv_heads):
    model = Decoder(DecoderConfig(vocabulary=11, context=8, width=16, layers=1, heads=4, kv_heads=kv_heads))
    weights = head_weights(model, read_anatomy(model), 0)
    assert [w.shape for w in weights] == [(4, 4, 16)] * 3 + [(4, 16, 4)]
    key = model.blocks[0].attention.key.weight
    for head in range(4):
        first = head * kv_heads // 4 * 4
        assert torch.equal(weights.key[head], key[first : first + 4])
    assert torch.equal(weights.output[2], model.blocks[0].attention.output.weight[:, 8:12])


def test_embeddings_are_scaled_as_the_stream_gets_them():
    gemma = tiny("gemma")
    scaled = embedding(gemma, read_anatomy(gemma))
    torch.testing.assert_close(scaled, gemma.model.embed_tokens.weight * 32**0.5)
    llama = tiny("llama")
    assert torch.equal(embedding(llama, read_anatomy(llama)), llama.model.embed_tokens.weight)
    assert torch.equal(unembedding(llama, read_anatomy(llama)), llama.lm_head.weight)


def test_gains_are_what_features_are_multiplied_with():
    for family, expected in (("gemma2", 1.0), ("llama", 0.0)):
        model = tiny(family)
        gain = final_norm_gain(model, read_anatomy(model))
        torch.testing.assert_close(gain, model.model.norm.weight + expected)
    olmo, bert = tiny("olmo"), tiny("bert")
    assert torch.equal(final_norm_gain(olmo, read_anatomy(olmo)), torch.ones(32))
    assert final_norm_gain(bert, read_anatomy(bert)) is None


def test_gains_around_heads_are_those_of_their_norms():
    for family, offset in (("gemma2", 1.0), ("llama", 0.0), ("gpt2", 0.0), ("olmo2", 0.0)):
        model = tiny(family)
        anatomy = read_anatomy(model)
        block = dict(model.get_submodule(anatomy.blocks[1]).named_parameters())
        read = block.get("input_layernorm.weight", block.get("ln_1.weight", torch.ones(32)))
        written = torch.ones(32)
        if family in ("gemma2", "olmo2"):
            written = block["post_attention_layernorm.weight"] + offset
        found = head_gains(model, anatomy, 1)
        torch.testing.assert_close(found.read, read + offset if family != "olmo2" else torch.ones(32))
        torch.testing.assert_close(found.written, written)
    after = Decoder(DecoderConfig(vocabulary=11, context=8, width=16, layers=1, heads=4, norm_place="post"))
    assert all(torch.equal(gain, torch.ones(16)) for gain in head_gains(after, read_anatomy(after), 0))


def test_a_norm_that_is_not_known_has_no_gain():
    model = tiny("llama")
    anatomy = read_anatomy(model)
    unknown = replace(anatomy, projections=replace(anatomy.projections, norm=None))
    with pytest.raises(NotObservable, match="which norm the heads of 'llama' models read is not known"):
        head_gains(model, unknown, 0)


def test_a_tied_decoder_reads_out_what_it_embeds():
    model = Decoder(DecoderConfig(vocabulary=11, context=8, width=16, layers=1, heads=4, norm_place="post"))
    anatomy = read_anatomy(model)
    assert torch.equal(embedding(model, anatomy), unembedding(model, anatomy))
    assert final_norm_gain(model, anatomy) is None


def test_what_is_no_matrix_is_said():
    assert linear_weight(nn.Linear(3, 2)).shape == (2, 3)
    with pytest.raises(NotObservable, match="Conv1d is not one matrix"):
        linear_weight(nn.Conv1d(3, 2, 1))


@pytest.mark.parametrize("read", [embedding, unembedding, lambda m, a: head_weights(m, a, 0)])
def test_where_nothing_is_known_it_is_said(read):
    model = nn.Sequential(nn.Linear(2, 2))
    with pytest.raises(NotObservable, match="not known"):
        read(model, read_anatomy(model))
