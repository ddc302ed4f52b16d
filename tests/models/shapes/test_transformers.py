"""Exported folders as `transformers` sees them: it loads them as they are and computes the same logits."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from ontogeny.models import Decoder, DecoderConfig
from ontogeny.models.shapes import export_state, family_of, import_state

transformers = pytest.importorskip("transformers")

LLAMA = DecoderConfig(vocabulary=41, context=16, width=32, layers=2, heads=4, kv_heads=2)
NEOX = replace(LLAMA, kv_heads=None, mlp="gelu", norm="layernorm", bias=True)
GPT2 = replace(NEOX, positions="learned")
CASES = {
    "llama tied": ("llama", LLAMA),
    "llama untied": ("llama", replace(LLAMA, tied=False, kv_heads=1, rotary_base=500.0, norm_eps=1e-3)),
    "qwen3": ("qwen3", replace(LLAMA, qk_norm=True, tied=False)),
    "gpt2 tied": ("gpt2", GPT2),
    "gpt2 untied": ("gpt2", replace(GPT2, tied=False, mlp="relu2", mlp_width=24, norm_eps=1e-3)),
    "neox tied": ("neox", NEOX),
    "neox untied": ("neox", replace(NEOX, tied=False, mlp="relu", rotary_base=500.0, dropout=0.2)),
}
TOKENS = torch.randint(0, 41, (3, 16), generator=torch.Generator().manual_seed(5))


def trained_like(config: DecoderConfig) -> Decoder:
    """In eval mode, with nothing left at its initial value, gains and biases included."""
    model, rng = Decoder(config).eval(), torch.Generator().manual_seed(1)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            gain = "norm" in name and name.endswith("weight")
            parameter.normal_(1.0 if gain else 0.0, 0.2, generator=rng)
    return model


def write(folder: Path, config: DecoderConfig, model: Decoder) -> None:
    described, tensors = export_state(config, model.state_dict())
    (folder / "config.json").write_text(json.dumps(described))
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


@pytest.mark.parametrize("case", CASES)
def test_transformers_computes_the_same_logits(case: str, tmp_path: Path) -> None:
    torch.set_num_threads(1)
    family, config = CASES[case]
    assert family_of(config) == family
    model = trained_like(config)
    write(tmp_path, config, model)
    theirs, report = transformers.AutoModelForCausalLM.from_pretrained(tmp_path, output_loading_info=True)
    assert not any(report.values()), report
    # The families' own defaults would end a generation at a token of ours that means something else.
    assert theirs.generation_config.eos_token_id is None
    assert sum(p.numel() for p in theirs.parameters()) == sum(p.numel() for p in model.parameters())
    with torch.no_grad():
        ours, other = model(TOKENS), theirs.eval()(TOKENS).logits
    assert ours.std() > 0.3
    torch.testing.assert_close(ours, other, atol=1e-5, rtol=0)


@pytest.mark.parametrize("case", CASES)
def test_a_folder_saved_again_by_transformers_still_reads(case: str, tmp_path: Path) -> None:
    _, config = CASES[case]
    model = trained_like(config)
    write(tmp_path, config, model)
    again = tmp_path / "again"
    transformers.AutoModelForCausalLM.from_pretrained(tmp_path).save_pretrained(again)
    described = json.loads((again / "config.json").read_text())
    found, state = import_state(described, load_file(again / "model.safetensors"))
    assert found == config
    expected = model.state_dict()
    assert state.keys() == expected.keys()
    assert all(torch.equal(state[name], expected[name]) for name in expected)


def test_dropout_in_training_is_gpt2s_own(tmp_path: Path) -> None:
    """The same rates in the same three spots, and none on the patterns."""
    config = replace(GPT2, dropout=0.3)
    write(tmp_path, config, trained_like(config))
    theirs = transformers.AutoModelForCausalLM.from_pretrained(tmp_path)
    rates = {
        name: module.p for name, module in theirs.named_modules() if isinstance(module, torch.nn.Dropout)
    }
    assert {name.rsplit(".", 1)[-1]: rate for name, rate in rates.items()} == {
        "drop": 0.3,
        "attn_dropout": 0.0,
        "resid_dropout": 0.3,
        "dropout": 0.3,
    }
