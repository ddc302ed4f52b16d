"""Export and import without `transformers`: which family, round trips, and what is refused."""

import json
from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load, save
from torch import Tensor

from ontogeny.errors import BadRecipe, ForeignCheckpoint
from ontogeny.models import Decoder, DecoderConfig
from ontogeny.models.shapes import FAMILIES, export_state, family_of, import_state

LLAMA = DecoderConfig(vocabulary=11, context=6, width=16, layers=2, heads=4, kv_heads=2)
NEOX = replace(LLAMA, kv_heads=None, mlp="gelu", norm="layernorm", bias=True)
GPT2 = replace(NEOX, positions="learned")


def random_state(config: DecoderConfig) -> dict[str, Tensor]:
    """Every bit pattern float32 has may occur: NaN payloads, infinities, negative zero."""
    rng = torch.Generator().manual_seed(3)
    shapes = {name: tensor.shape for name, tensor in Decoder(config).state_dict().items()}
    return {
        name: torch.randint(-(2**31), 2**31, shape, generator=rng, dtype=torch.int64)
        .to(torch.int32)
        .view(torch.float32)
        for name, shape in shapes.items()
    }


def same_bits(one: Tensor, other: Tensor) -> bool:
    return torch.equal(one.view(torch.int32), other.view(torch.int32))


configs = st.builds(
    DecoderConfig,
    vocabulary=st.just(11),
    context=st.just(6),
    width=st.just(16),
    layers=st.integers(1, 3),
    heads=st.just(4),
    kv_heads=st.sampled_from([None, 1, 2, 4]),
    mlp=st.sampled_from(["gelu", "relu", "relu2", "swiglu", "none"]),
    norm=st.sampled_from(["rmsnorm", "layernorm"]),
    norm_place=st.sampled_from(["pre", "pre", "post"]),
    positions=st.sampled_from(["rotary", "learned", "none"]),
    qk_norm=st.booleans(),
    tied=st.booleans(),
    bias=st.booleans(),
    loops=st.sampled_from([1, 1, 2]),
    dropout=st.sampled_from([0.0, 0.1]),
)
of_a_family = st.builds(
    replace,
    st.sampled_from([LLAMA, replace(LLAMA, qk_norm=True), GPT2, NEOX]),
    layers=st.integers(1, 3),
    tied=st.booleans(),
    dropout=st.sampled_from([0.0, 0.1]),
)


@settings(max_examples=80, deadline=None)
@given(st.one_of(configs, of_a_family))
def test_round_trip_is_bit_exact_through_json_and_safetensors(config: DecoderConfig) -> None:
    state = random_state(config)
    described, tensors = export_state(config, state)
    found, back = import_state(json.loads(json.dumps(described)), load(save(tensors)))
    assert found == config
    assert back.keys() == state.keys()
    assert all(same_bits(back[name], state[name]) for name in state)
    assert all(tensor.is_contiguous() for tensor in [*tensors.values(), *back.values()])
    assert sum(tensor.numel() for tensor in tensors.values()) == sum(t.numel() for t in state.values())
    Decoder(config).load_state_dict(back)


@settings(max_examples=60, deadline=None)
@given(configs)
def test_at_most_one_family_matches(config: DecoderConfig) -> None:
    assert sum(family.matches(config) for family in FAMILIES.values()) <= 1


@pytest.mark.parametrize(
    ("base", "changes", "family"),
    [
        (LLAMA, {}, "llama"),
        (LLAMA, {"tied": False, "dropout": 0.1, "kv_heads": None}, "llama"),
        (LLAMA, {"qk_norm": True}, "qwen3"),
        (GPT2, {}, "gpt2"),
        (GPT2, {"mlp": "relu", "dropout": 0.1}, "gpt2"),
        (NEOX, {"tied": False}, "neox"),
        (LLAMA, {"bias": True}, None),
        (LLAMA, {"mlp": "gelu"}, None),
        (LLAMA, {"mlp": "none"}, None),
        (LLAMA, {"norm_place": "post"}, None),
        (LLAMA, {"positions": "none"}, None),
        (LLAMA, {"norm": "layernorm"}, None),
        (LLAMA, {"loops": 2}, None),
        (LLAMA, {"qk_norm": True, "loops": 2}, None),
        *((base, {"loops": 2}, None) for base in (GPT2, NEOX)),
        *((base, {"bias": False}, None) for base in (GPT2, NEOX)),
        *((base, {"kv_heads": 2}, None) for base in (GPT2, NEOX)),
        *((base, {"qk_norm": True}, None) for base in (GPT2, NEOX)),
        *((base, {"norm": "rmsnorm"}, None) for base in (GPT2, NEOX)),
        *((base, {"norm_place": "post"}, None) for base in (GPT2, NEOX)),
        *((base, {"mlp": "swiglu"}, None) for base in (GPT2, NEOX)),
        *((base, {"mlp": "none"}, None) for base in (GPT2, NEOX)),
        (NEOX, {"positions": "none"}, None),
    ],
)
def test_family(base: DecoderConfig, changes: dict[str, Any], family: str | None) -> None:
    config = replace(base, **changes)
    assert family_of(config) == family
    described, tensors = export_state(config, random_state(config))
    assert (described["model_type"] == "ontogeny") == (family is None)
    if family is None:
        assert tensors.keys() == Decoder(config).state_dict().keys()


def test_gpt2_layout_entry_by_entry() -> None:
    state = random_state(GPT2)
    _, tensors = export_state(GPT2, state)
    fused = tensors["transformer.h.1.attn.c_attn.weight"]
    assert fused.shape == (16, 48)
    assert same_bits(fused[3, 16 + 5], state["blocks.1.attention.key.weight"][5, 3])
    assert same_bits(
        tensors["transformer.h.1.mlp.c_fc.weight"][3, 60], state["blocks.1.mlp.up.weight"][60, 3]
    )


def test_neox_layout_entry_by_entry() -> None:
    state = random_state(NEOX)
    _, tensors = export_state(NEOX, state)
    fused = tensors["gpt_neox.layers.1.attention.query_key_value.weight"]
    head, part, feature = 2, 1, 3  # the key of head 2; four features a head, three parts
    assert same_bits(fused[head * 12 + part * 4 + feature], state["blocks.1.attention.key.weight"][11])


def test_the_written_dtype_is_the_states() -> None:
    state = random_state(LLAMA)
    assert export_state(LLAMA, state)[0]["torch_dtype"] == "float32"
    halves = {name: tensor.bfloat16() for name, tensor in state.items()}
    assert export_state(LLAMA, halves)[0]["torch_dtype"] == "bfloat16"


@pytest.mark.parametrize("config", [LLAMA, GPT2, NEOX, replace(LLAMA, loops=2)])
def test_foreign_tensors_are_named(config: DecoderConfig) -> None:
    described, tensors = export_state(config, random_state(config))
    first, *_ = sorted(tensors)
    count = len(tensors)

    def refused(changed: dict[str, Tensor]) -> str:
        with pytest.raises(ForeignCheckpoint) as refusal:
            import_state(described, changed)
        return str(refusal.value)

    without = refused({name: tensor for name, tensor in tensors.items() if name != first})
    assert f"1 missing: {first}" in without
    assert f"{count - 1} of the model's {count} tensors" in without
    assert "1 unexpected: stray" in refused(tensors | {"stray": torch.zeros(1)})
    reshaped = refused(tensors | {first: torch.zeros(7, 7)})
    assert f"1 mismatched: {first} [7, 7] instead of {list(tensors[first].shape)}" in reshaped
    nothing = refused({f"other.{name}": tensor for name, tensor in tensors.items()})
    assert f"0 of the model's {count} tensors" in nothing
    assert f"{count} missing" in nothing
    assert "…" in nothing
    assert f"0 of the model's {count} tensors" in refused({})


def test_a_state_of_another_decoder_is_not_exported() -> None:
    with pytest.raises(ForeignCheckpoint, match="instead of"):
        export_state(LLAMA, random_state(replace(LLAMA, width=32)))
    with pytest.raises(ForeignCheckpoint, match="unembedding"):
        export_state(LLAMA, random_state(replace(LLAMA, tied=False)))


def test_other_peoples_folders_are_refused() -> None:
    described, tensors = export_state(LLAMA, random_state(LLAMA))
    config = described.pop("ontogeny")
    with pytest.raises(ForeignCheckpoint, match="'llama' without the key 'ontogeny'"):
        import_state(described, tensors)
    with pytest.raises(BadRecipe, match="flavour"):
        import_state(described | {"ontogeny": config | {"flavour": 1}}, tensors)
