"""LoRA adapters merged into their base, by hand and against peft itself where it is installed."""

import json
import math

import pytest
import torch
from safetensors.torch import load_file, save_file

from foreign_folders import decoder, foreign_folder
from ontogeny import formats
from ontogeny.errors import ForeignCheckpoint
from ontogeny.formats import adapters
from ontogeny.formats.adapter_names import base_state

Q, EMBED = "model.layers.0.self_attn.q_proj", "model.embed_tokens"


@pytest.fixture
def base(tmp_path):
    foreign_folder(tmp_path / "base", decoder())
    return tmp_path / "base"


def adapter(folder, tensors, **config):
    folder.mkdir()
    document = {"peft_type": "LORA", "base_model_name_or_path": "../base", "r": 2, "lora_alpha": 6, **config}
    (folder / "adapter_config.json").write_text(json.dumps(document))
    save_file(tensors, folder / "adapter_model.safetensors")
    return folder


def pair(name=f"base_model.model.{Q}", rank=2, rows=32, columns=32, seed=0):
    rng = torch.Generator().manual_seed(seed)
    down, up = torch.randn(rank, columns, generator=rng), torch.randn(rows, rank, generator=rng)
    return down, up, {f"{name}.lora_A.weight": down, f"{name}.lora_B.weight": up}


def test_the_merged_weight_is_w_plus_alpha_over_r_ba(base, tmp_path):
    down, up, tensors = pair()
    found = formats.read(adapter(tmp_path / "a", tensors))
    before = formats.read(base)
    torch.testing.assert_close(
        found.tensors[f"{Q}.weight"], before.tensors[f"{Q}.weight"] + 3 * up @ down, atol=1e-5, rtol=0
    )
    others = before.hashes.keys() - {f"{Q}.weight"}
    assert {name: found.hashes[name] for name in others} == {name: before.hashes[name] for name in others}
    assert found.notes[-1] == "adapter merged into 1 tensors of base"
    assert set(formats.files(tmp_path / "a")) >= set(formats.files(base))


@pytest.mark.parametrize(
    ("config", "scale"),
    [
        ({"use_rslora": True}, 6 / math.sqrt(2)),
        ({"alpha_pattern": {"q_proj": 10}}, 5.0),
        ({"alpha_pattern": {"k_proj": 10}}, 3.0),
    ],
)
def test_scales(base, tmp_path, config, scale):
    down, up, tensors = pair()
    found = formats.read(adapter(tmp_path / "a", tensors, **config)).tensors[f"{Q}.weight"]
    change = found - formats.read(base).tensors[f"{Q}.weight"]
    torch.testing.assert_close(change, scale * up @ down, atol=1e-5, rtol=0)


def test_embeddings_transposed_maps_and_whole_modules(base, tmp_path):
    rng = torch.Generator().manual_seed(1)
    down, up = torch.randn(2, 61, generator=rng), torch.randn(32, 2, generator=rng)
    norm = torch.randn(32, generator=rng)
    prefix = "base_model.model."
    tensors = {
        f"{prefix}{EMBED}.lora_embedding_A": down,
        f"{prefix}{EMBED}.lora_embedding_B": up,
        f"{prefix}model.norm.weight": norm,
    }
    found = formats.read(adapter(tmp_path / "a", tensors)).tensors
    change = found[f"{EMBED}.weight"] - formats.read(base).tensors[f"{EMBED}.weight"]
    torch.testing.assert_close(change, 3 * (up @ down).T, atol=1e-5, rtol=0)
    assert torch.equal(found["model.norm.weight"], norm)
    down, up, tensors = pair()
    merged = adapters.merge(
        {f"{Q}.weight": torch.zeros(32, 32)},
        tensors,
        {"peft_type": "LORA", "lora_alpha": 2, "fan_in_fan_out": True},
        "a",
    )
    torch.testing.assert_close(merged[f"{Q}.weight"], (up @ down).T)


@pytest.mark.parametrize(
    ("tensors", "config", "said"),
    [
        (pair()[2], {"peft_type": "LOHA"}, "LOHA"),
        (pair()[2], {"use_dora": True}, "DoRA"),
        (pair("base_model.model.model.layers.7.self_attn.q_proj")[2], {}, r"layers\.7"),
        (pair(rows=31)[2], {}, r"\[31, 32\] over \[32, 32\]"),
        ({f"{Q}.lora_A.weight": torch.ones(2, 32)}, {}, "half a pair"),
    ],
)
def test_what_cannot_be_merged_is_refused(base, tmp_path, tensors, config, said):
    with pytest.raises(ForeignCheckpoint, match=said):
        formats.read(adapter(tmp_path / "a", tensors, **config))


def test_a_base_that_is_not_here_is_asked_for_or_given(base, tmp_path):
    folder = adapter(tmp_path / "a", pair()[2], base_model_name_or_path="someone/some-model")
    with pytest.raises(ForeignCheckpoint, match="someone/some-model"):
        formats.read(folder)
    assert f"{Q}.weight" in adapters.read(folder, base=base).tensors


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # peft's own, of names it sees trouble in and of transformers
@pytest.mark.parametrize("name", ["default", "lora"])
def test_it_is_what_peft_merges(base, tmp_path, name):
    peft, transformers = pytest.importorskip("peft"), pytest.importorskip("transformers")
    model = transformers.AutoModelForCausalLM.from_pretrained(base, dtype="float32")
    bare = dict(model.state_dict())
    config = peft.LoraConfig(
        r=4, lora_alpha=12, target_modules=["q_proj", "down_proj"], init_lora_weights=False
    )
    wrapped = peft.get_peft_model(model, config, adapter_name=name)
    own = base_state(wrapped.state_dict())
    assert own.keys() == bare.keys()
    assert all(torch.equal(own[key], bare[key]) for key in bare)
    wrapped.save_pretrained(tmp_path / "a")
    saved = next((tmp_path / "a").rglob("adapter_config.json")).parent
    found = adapters.read(saved, base=base).tensors
    merged = wrapped.merge_and_unload().state_dict()
    for key in load_file(base / "model.safetensors"):
        torch.testing.assert_close(found[key], merged[key], atol=1e-6, rtol=0)
