"""nanoGPT's ckpt.pt becomes a decoder of ours that computes the same, with biases and without."""

import math

import pytest
import torch
from torch.nn import functional as F

from foreign_folders import decoder, nanogpt_file, nanogpt_state
from ontogeny import formats
from ontogeny.errors import ForeignCheckpoint
from ontogeny.subject import load_subject

SHAPE = {"norm": "layernorm", "positions": "learned", "mlp": "gelu", "kv_heads": None}


def plain_forward(state, tokens, heads, layers):
    """nanoGPT's model in a dozen lines, from its tensors under its names."""
    position = torch.arange(tokens.shape[1])
    x = state["transformer.wte.weight"][tokens] + state["transformer.wpe.weight"][position]
    norm = lambda x, at: F.layer_norm(x, x.shape[-1:], state[f"{at}.weight"], state.get(f"{at}.bias"), 1e-5)
    linear = lambda x, at: F.linear(x, state[f"{at}.weight"], state.get(f"{at}.bias"))
    future = torch.ones(tokens.shape[1], tokens.shape[1], dtype=torch.bool).triu(1)
    for layer in range(layers):
        at = f"transformer.h.{layer}"
        fused = linear(norm(x, f"{at}.ln_1"), f"{at}.attn.c_attn")
        q, k, v = (part.unflatten(-1, (heads, -1)).transpose(1, 2) for part in fused.split(x.shape[-1], -1))
        scores = (q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])).masked_fill(future, -math.inf)
        x = x + linear((scores.softmax(-1) @ v).transpose(1, 2).flatten(2), f"{at}.attn.c_proj")
        x = x + linear(F.gelu(linear(norm(x, f"{at}.ln_2"), f"{at}.mlp.c_fc")), f"{at}.mlp.c_proj")
    return norm(x, "transformer.ln_f") @ state["lm_head.weight"].T


@pytest.mark.parametrize("bias", [True, False])
def test_it_computes_what_nanogpt_computes(tmp_path, trusted, tokens, bias):
    model = decoder(**SHAPE, bias=bias)
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            parameter.data.normal_(generator=torch.Generator().manual_seed(1))
    nanogpt_file(tmp_path / "ckpt.pt", model, prefix="_orig_mod.")
    weights = formats.read(tmp_path / "ckpt.pt", trust=trusted)
    with torch.no_grad():
        expected = plain_forward(nanogpt_state(model), tokens, heads=4, layers=2)
    torch.testing.assert_close(load_subject(weights).run(tokens), expected, atol=2e-5, rtol=0)
    assert weights.parameters == sum(parameter.numel() for parameter in model.parameters())
    assert "stripped _orig_mod. from" in " ".join(weights.notes)


def test_with_biases_it_is_a_gpt2_of_transformers(tmp_path, trusted, tokens):
    transformers = pytest.importorskip("transformers")
    model = decoder(**SHAPE, bias=True)
    nanogpt_file(tmp_path / "ckpt.pt", model)
    weights = formats.read(tmp_path / "ckpt.pt", trust=trusted)
    config = transformers.GPT2Config.from_dict(dict(weights.config))
    theirs, report = transformers.GPT2LMHeadModel.from_pretrained(
        None, config=config, state_dict=dict(weights.tensors), output_loading_info=True
    )
    assert not any(report[kind] for kind in ("missing_keys", "unexpected_keys", "mismatched_keys"))
    with torch.no_grad():
        expected = theirs.eval()(input_ids=tokens).logits
    torch.testing.assert_close(load_subject(weights).run(tokens), expected, atol=2e-5, rtol=0)


def test_masks_are_left_out_and_a_tie_that_was_broken_is_kept(tmp_path, trusted):
    model = decoder(**SHAPE, bias=False)
    nanogpt_file(tmp_path / "ckpt.pt", model)
    saved = torch.load(tmp_path / "ckpt.pt", weights_only=True)
    saved["model"]["transformer.h.0.attn.bias"] = torch.ones(1, 1, 64, 64).tril()
    saved["model"]["lm_head.weight"] = saved["model"]["lm_head.weight"] + 1
    torch.save(saved, tmp_path / "ckpt.pt")
    weights = formats.read(tmp_path / "ckpt.pt", trust=trusted)
    assert "left out 1 causal masks" in weights.notes
    assert weights.config["ontogeny"]["tied"] is False


def test_a_missing_tensor_is_named(tmp_path, trusted):
    nanogpt_file(tmp_path / "ckpt.pt", decoder(**SHAPE, bias=False))
    saved = torch.load(tmp_path / "ckpt.pt", weights_only=True)
    del (
        saved["model"]["transformer.h.1.mlp.c_fc.weight"],
        saved["model"]["transformer.h.0.attn.c_attn.weight"],
    )
    torch.save(saved, tmp_path / "ckpt.pt")
    with pytest.raises(ForeignCheckpoint, match=r"missing_keys: transformer\.h\.1\.mlp\.c_fc\.weight"):
        formats.read(tmp_path / "ckpt.pt", trust=trusted)
    del saved["model_args"]["n_head"]
    torch.save(saved, tmp_path / "ckpt.pt")
    with pytest.raises(ForeignCheckpoint, match="model_args without 'n_head'"):
        formats.read(tmp_path / "ckpt.pt", trust=trusted)
