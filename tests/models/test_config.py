"""DecoderConfig: defaults that depend on other values, and what is refused."""

from dataclasses import asdict, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontogeny.errors import BadRecipe
from ontogeny.models import DecoderConfig


def test_defaults_follow_width_and_heads() -> None:
    config = DecoderConfig(vocabulary=512, context=64)
    assert (config.head_size, config.key_heads, config.neurons) == (32, 4, 344)
    assert replace(config, mlp="gelu").neurons == 512
    assert replace(config, mlp="none").neurons == 0
    assert replace(config, mlp_width=100).neurons == 100
    assert replace(config, width=256, heads=8).key_heads == 8
    assert replace(config, kv_heads=2).key_heads == 2


@given(st.integers(1, 4000))
def test_swiglu_width_is_the_smallest_multiple_of_eight_not_under_eight_thirds(width: int) -> None:
    neurons = DecoderConfig(1, 1, width=width, heads=1, positions="none").neurons
    assert neurons % 8 == 0
    assert 0 <= 3 * neurons - 8 * width < 24


def test_dict_round_trip() -> None:
    config = DecoderConfig(vocabulary=10, context=8, heads=8, kv_heads=2, mlp="relu2", rotary_base=500)
    assert DecoderConfig.from_dict(asdict(config)) == config
    assert isinstance(config.rotary_base, float)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"width": 130}, "cut into heads"),
        ({"heads": 8, "kv_heads": 3}, "key heads evenly"),
        ({"width": 12, "heads": 4}, "even head size"),
        ({"kv_heads": 0}, "kv_heads"),
        ({"layers": 0}, "layers"),
        ({"layers": 2.0}, "layers"),
        ({"loops": True}, "loops"),
        ({"tied": 1}, "tied"),
        ({"mlp": "geglu"}, "relu2"),
        ({"norm": "batchnorm"}, "layernorm"),
        ({"norm_place": "both"}, "post"),
        ({"positions": "alibi"}, "learned"),
        ({"init": "xavier"}, "pytorch"),
        ({"dropout": 1.0}, "below 1"),
        ({"dropout": -0.1}, "below 1"),
        ({"norm_eps": 0.0}, "above 0"),
        ({"rotary_base": float("inf")}, "above 0"),
        ({"init_scale": float("nan")}, "above 0"),
        ({"init_scale": "0.02"}, "above 0"),
        ({"mlp": "none", "mlp_width": 8}, "without an MLP"),
    ],
)
def test_impossible_decoders_are_refused(changes: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadRecipe, match=complaint):
        DecoderConfig.from_dict({"vocabulary": 10, "context": 8} | changes)


def test_odd_heads_are_fine_without_rotation() -> None:
    assert DecoderConfig(10, 8, width=12, heads=4, positions="learned").head_size == 3


def test_unknown_and_missing_keys_are_named() -> None:
    with pytest.raises(BadRecipe, match="hidden_size"):
        DecoderConfig.from_dict({"vocabulary": 10, "context": 8, "hidden_size": 8})
    with pytest.raises(BadRecipe, match="received: context"):
        DecoderConfig.from_dict({"vocabulary": 10})
