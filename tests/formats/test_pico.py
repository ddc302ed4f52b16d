"""pico-train's checkpoints: a Llama with interleaved rotation, whose own Python file is never run."""

import json
import math

import pytest
import torch
from safetensors.torch import save_file
from torch.nn import functional as F

from foreign_folders import decoder, foreign_folder
from ontogeny import formats
from ontogeny.errors import ForeignCheckpoint
from ontogeny.subject import load_subject

CONFIG = {
    "model_type": "pico_decoder",
    "architectures": ["PicoDecoderHF"],
    "auto_map": {"AutoModelForCausalLM": "pico_decoder.PicoDecoderHF"},
    "d_model": 32,
    "n_layers": 2,
    "vocab_size": 61,
    "batch_size": 8,
    "max_seq_len": 64,
    "attention_n_heads": 4,
    "attention_n_kv_heads": 2,
    "activation_hidden_dim": 48,
    "norm_eps": 1e-6,
    "position_emb_theta": 10000.0,
}


def pico_state():
    rng = torch.Generator().manual_seed(3)
    shapes = {"embedding_proj": (61, 32), "output_norm": (32,), "de_embedding_proj": (61, 32)}
    for i in range(2):
        shapes |= {
            f"layers.{i}.attention_norm": (32,),
            f"layers.{i}.attention.q_proj": (32, 32),
            f"layers.{i}.attention.k_proj": (16, 32),
            f"layers.{i}.attention.v_proj": (16, 32),
            f"layers.{i}.attention.o_proj": (32, 32),
            f"layers.{i}.swiglu_norm": (32,),
            f"layers.{i}.swiglu.w_0": (48, 32),
            f"layers.{i}.swiglu.w_1": (48, 32),
            f"layers.{i}.swiglu.w_2": (32, 48),
        }
    return {f"pico_decoder.{n}.weight": torch.randn(s, generator=rng) / 3 for n, s in shapes.items()}


def plain_forward(state, tokens):
    """pico_decoder.py's forward pass, written from its description: complex rotation of neighbours."""
    get = lambda name: state[f"pico_decoder.{name}.weight"]
    norm = lambda x, at: x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * get(at)
    frequencies = 1.0 / (10000.0 ** (torch.arange(0, 8, 2).float() / 8))
    turn = torch.polar(torch.ones(()), torch.outer(torch.arange(tokens.shape[1]).float(), frequencies))[
        :, None
    ]
    rotate = lambda x: torch.view_as_real(
        torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2)) * turn
    ).flatten(3)
    x = get("embedding_proj")[tokens]
    future = torch.ones(tokens.shape[1], tokens.shape[1], dtype=torch.bool).triu(1)
    for i in range(2):
        at, h = f"layers.{i}", norm(x, f"layers.{i}.attention_norm")
        q, k, v = ((h @ get(f"{at}.attention.{p}_proj").T).unflatten(-1, (-1, 8)) for p in "qkv")
        q, k, v = rotate(q).transpose(1, 2), rotate(k).transpose(1, 2), v.transpose(1, 2)
        k, v = k.repeat_interleave(2, 1), v.repeat_interleave(2, 1)
        pattern = (q @ k.transpose(-1, -2) / math.sqrt(8)).masked_fill(future, -math.inf).softmax(-1)
        x = x + (pattern @ v).transpose(1, 2).flatten(2) @ get(f"{at}.attention.o_proj").T
        h = norm(x, f"{at}.swiglu_norm")
        gated = F.silu(h @ get(f"{at}.swiglu.w_0").T) * (h @ get(f"{at}.swiglu.w_1").T)
        x = x + gated @ get(f"{at}.swiglu.w_2").T
    return norm(x, "output_norm") @ get("de_embedding_proj").T


@pytest.fixture
def step(tmp_path):
    """checkpoints/step_1000 as pico-train writes it, with the pickle for resuming below it."""
    folder = tmp_path / "checkpoints" / "step_1000"
    (folder / "fabric_state").mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(CONFIG))
    (folder / "pico_decoder.py").write_text("raise SystemExit('run')")
    save_file(pico_state(), folder / "model.safetensors")
    state = {name.removeprefix("pico_decoder."): tensor for name, tensor in pico_state().items()}
    torch.save(
        {"_model": state, "_optimizer": {}, "_checkpoint_step": 1000}, folder / "fabric_state/checkpoint.pt"
    )
    return folder


def test_it_computes_what_pico_computes(step, tokens):
    assert formats.find(step).name == "pico-train"
    ours = load_subject(step).run(tokens)
    torch.testing.assert_close(ours, plain_forward(pico_state(), tokens), atol=2e-5, rtol=0)


def test_the_pickle_for_resuming_is_the_same_model(step, trusted):
    (step / "fabric_state" / "config.json").write_text(json.dumps(CONFIG))
    found = formats.read(step / "fabric_state" / "checkpoint.pt", trust=trusted)
    assert found.hash == formats.read(step).hash


def test_what_is_missing_is_named(step):
    state = pico_state()
    del state["pico_decoder.layers.1.swiglu.w_1.weight"]
    save_file(state, step / "model.safetensors")
    with pytest.raises(ForeignCheckpoint, match=r"missing_keys: layers\.1\.swiglu\.w_1\.weight"):
        formats.read(step)
    (step / "config.json").write_text(json.dumps({k: v for k, v in CONFIG.items() if k != "n_layers"}))
    with pytest.raises(ForeignCheckpoint, match="without 'n_layers'"):
        formats.read(step)


def test_another_model_type_is_not_picos(tmp_path):
    foreign_folder(tmp_path / "a", decoder())
    assert formats.find(tmp_path / "a").name == "transformers"
