"""The decoder: what each switch does, causality, initial weights, dropout, the attention tap."""

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn import functional as F

from ontogeny.errors import BadContract
from ontogeny.models import Decoder, DecoderConfig, attend, attend_eagerly
from ontogeny.models.decoder import rotary_tables, rotated

SMALL = DecoderConfig(vocabulary=23, context=12, width=16, layers=2, heads=4)
TOKENS = torch.randint(0, 23, (3, 12), generator=torch.Generator().manual_seed(5))


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def trained_like(config: DecoderConfig, seed: int = 0) -> Decoder:
    """A decoder in eval mode with nothing left at its initial value, gains and biases included."""
    model, rng = Decoder(config).eval(), seeded(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            gain = "norm" in name and name.endswith("weight")
            parameter.normal_(1.0 if gain else 0.0, 0.3, generator=rng)
    return model


def logits(config: DecoderConfig) -> Tensor:
    return trained_like(config)(TOKENS)


# --- what the switches do -------------------------------------------------------------------------------

SWITCHES: list[dict[str, Any]] = [
    *({"mlp": kind, "mlp_width": 24} for kind in ("gelu", "relu", "relu2", "swiglu")),
    {"mlp": "none"},
    {"mlp_width": 8},
    {"norm": "layernorm"},
    {"norm": "layernorm", "bias": True},
    {"norm_place": "post"},
    {"norm_eps": 0.1},
    {"positions": "learned"},
    {"positions": "none"},
    {"rotary_base": 100.0},
    {"qk_norm": True},
    {"tied": False},
    {"bias": True},
    {"loops": 2},
    {"kv_heads": 2},
    {"kv_heads": 1},
    {"heads": 2},
    {"layers": 3},
]


def test_every_switch_gives_another_function() -> None:
    outputs = [logits(SMALL)] + [logits(replace(SMALL, **changes)) for changes in SWITCHES]
    for i, one in enumerate(outputs):
        assert one.isfinite().all()
        for other in outputs[:i]:
            assert (one - other).abs().max() > 1e-3


def test_nonlinearities_by_their_formulas() -> None:
    features = torch.randn(2, 5, 16, generator=seeded())
    for kind, formula in {
        "gelu": lambda x: x * 0.5 * (1 + torch.erf(x / math.sqrt(2))),
        "relu": lambda x: x.clamp(min=0),
        "relu2": lambda x: x.clamp(min=0) ** 2,
    }.items():
        mlp = trained_like(replace(SMALL, mlp=kind, bias=True)).get_submodule("blocks.0.mlp")
        up, down = mlp.get_submodule("up"), mlp.get_submodule("down")
        torch.testing.assert_close(mlp(features), down(formula(up(features))))
    mlp = trained_like(SMALL).get_submodule("blocks.0.mlp")
    gate, up, down = (mlp.get_submodule(name) for name in ("gate", "up", "down"))
    torch.testing.assert_close(mlp(features), down(gate(features) * gate(features).sigmoid() * up(features)))


def test_names_of_tensors() -> None:
    full = replace(
        SMALL, layers=1, positions="learned", norm="layernorm", bias=True, qk_norm=True, tied=False
    )
    both = [f"attention.{name}" for name in ("query", "key", "value", "output")]
    both += ["attention_norm", "mlp_norm", "mlp.gate", "mlp.up", "mlp.down"]
    expected = {f"blocks.0.{name}.{kind}" for name in both for kind in ("weight", "bias")}
    expected |= {f"blocks.0.attention.{name}_norm.weight" for name in ("query", "key")}
    expected |= {"embedding.weight", "position_embedding.weight", "final_norm.weight", "final_norm.bias"}
    assert set(Decoder(full).state_dict()) == expected | {"unembedding.weight"}
    bare = Decoder(replace(SMALL, layers=1, mlp="none", norm_place="post"))
    expected = {f"blocks.0.attention.{name}.weight" for name in ("query", "key", "value", "output")}
    assert set(bare.state_dict()) == expected | {"embedding.weight", "blocks.0.attention_norm.weight"}


def test_size_of_the_default_decoder() -> None:
    model = Decoder(DecoderConfig(vocabulary=512, context=64))
    block = 4 * 128 * 128 + 3 * 128 * 344 + 2 * 128
    assert sum(parameter.numel() for parameter in model.parameters()) == 512 * 128 + 4 * block + 128


def test_without_positions_earlier_tokens_are_a_bag() -> None:
    """One attention layer without positions cannot see the order of earlier tokens; with rotation it can."""
    shuffled = torch.cat([TOKENS[:, :-1].flip(1), TOKENS[:, -1:]], 1)
    for positions, same in (("none", True), ("rotary", False), ("learned", False)):
        model = trained_like(replace(SMALL, layers=1, positions=positions))
        gap = (model(TOKENS)[:, -1] - model(shuffled)[:, -1]).abs().max()
        assert (gap < 1e-4) == same


def test_post_norm_stream_is_normalised_and_has_no_final_norm() -> None:
    model = Decoder(replace(SMALL, norm_place="post", norm_eps=1e-12))
    residual = stream_after(model, 1, TOKENS)
    torch.testing.assert_close(residual[0].square().mean(-1), torch.ones(3, 12))
    torch.testing.assert_close(model(TOKENS), residual[0] @ model.embedding.weight.T)


# --- causality, loops, positions ------------------------------------------------------------------------


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 11), st.sampled_from(SWITCHES))
def test_a_token_changes_no_earlier_logits(position: int, changes: dict[str, Any]) -> None:
    model = trained_like(replace(SMALL, **changes))
    other = TOKENS.clone()
    other[:, position] = (other[:, position] + 1) % 23
    before, after = model(TOKENS), model(other)
    assert torch.equal(before[:, :position], after[:, :position])
    assert (before[:, position:] - after[:, position:]).abs().amax((0, 2)).min() > 0


def stream_after(model: Decoder, layer: int, tokens: Tensor) -> list[Tensor]:
    seen: list[Tensor] = []
    handle = model.blocks[layer].register_forward_hook(lambda module, inputs, output: seen.append(output))
    model(tokens)
    handle.remove()
    return seen


def test_two_loops_apply_the_block_twice() -> None:
    looped = trained_like(replace(SMALL, layers=1, loops=2))
    deep = Decoder(replace(SMALL, layers=2)).eval()
    weights = looped.state_dict()
    copies = {name.replace("blocks.0", "blocks.1"): weight for name, weight in weights.items()}
    deep.load_state_dict(weights | copies)
    assert torch.equal(looped(TOKENS), deep(TOKENS))
    streams = stream_after(looped, 0, TOKENS)
    assert torch.equal(streams[0], stream_after(deep, 0, TOKENS)[0])
    assert torch.equal(streams[1], stream_after(deep, 1, TOKENS)[0])
    assert torch.equal(looped.logits_of(streams[1]), looped(TOKENS))


def test_rotary_attention_sees_differences_of_positions_only() -> None:
    model = trained_like(replace(SMALL, context=40))
    shifted = model(TOKENS, position_ids=torch.arange(12) + 20)
    torch.testing.assert_close(model(TOKENS), shifted, atol=1e-4, rtol=1e-4)
    assert torch.equal(model(TOKENS), model(TOKENS, position_ids=torch.arange(12).expand(3, 12)))
    spread = model(TOKENS, position_ids=torch.arange(12) * 2)
    assert (model(TOKENS) - spread).abs().max() > 1e-3


def test_learned_positions_are_looked_up_by_id_in_each_row() -> None:
    model = trained_like(replace(SMALL, positions="learned"))
    ids = torch.stack([torch.arange(12), torch.arange(12).flip(0), torch.arange(12) // 2])
    rows = [model(TOKENS[i : i + 1], position_ids=ids[i]) for i in range(3)]
    torch.testing.assert_close(model(TOKENS, position_ids=ids), torch.cat(rows))
    assert (rows[1] - model(TOKENS[1:2])).abs().max() > 1e-3


@given(st.integers(0, 63), st.sampled_from([2, 8, 32]))
def test_rotation_is_that_of_complex_numbers(position: int, size: int) -> None:
    features = torch.randn(size, generator=seeded(position))
    cosine, sine = rotary_tables(64, size, 10000.0)
    turned = rotated(features, (cosine[position], sine[position]))
    pairs = torch.complex(*features.double().chunk(2))
    angles = position * 10000.0 ** (-torch.arange(0, size, 2, dtype=torch.float64) / size)
    expected = pairs * torch.polar(torch.ones_like(angles), angles)
    torch.testing.assert_close(
        turned.double(), torch.cat([expected.real, expected.imag]), atol=1e-5, rtol=1e-5
    )


def test_positions_outside_the_context_are_refused() -> None:
    model = Decoder(SMALL)
    with pytest.raises(BadContract, match="positions 0 to 11"):
        model(torch.zeros(1, 13, dtype=torch.long))
    for wrong in (12, -1):
        with pytest.raises(BadContract, match="outside the context"):
            model(TOKENS[:, :1], position_ids=torch.tensor([wrong]))


# --- initial weights ------------------------------------------------------------------------------------


@pytest.mark.parametrize("init", ["normal", "pytorch"])
def test_weights_come_from_the_generator_alone(init: str) -> None:
    config = replace(SMALL, init=init, bias=True, positions="learned", tied=False)
    before = torch.get_rng_state()
    one = Decoder(config, seeded(1)).state_dict()
    assert torch.equal(before, torch.get_rng_state())
    torch.rand(7)
    again, other = Decoder(config, seeded(1)).state_dict(), Decoder(config, seeded(2)).state_dict()
    assert all(torch.equal(one[name], again[name]) for name in one)
    moved = {name for name in one if not torch.equal(one[name], other[name])}
    drawn = {name for name in one if "norm" not in name}
    assert moved == (drawn if init == "pytorch" else {name for name in drawn if name.endswith("weight")})
    assert all(torch.equal(one[n], torch.ones(16)) for n in one if "norm" in n and n.endswith("weight"))


def test_default_generator_is_seed_zero() -> None:
    one, other = Decoder(SMALL).state_dict(), Decoder(SMALL, seeded(0)).state_dict()
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_normal_init_has_the_stated_spread() -> None:
    config = replace(SMALL, vocabulary=200, width=128, layers=8, bias=True, tied=False, init_scale=0.05)
    for name, tensor in Decoder(config, seeded(3)).state_dict().items():
        if "norm" in name:
            continue
        if name.endswith("bias"):
            assert not tensor.any()
            continue
        scale = 0.05 / 4 if name.endswith(("output.weight", "down.weight")) else 0.05
        error = scale / math.sqrt(2 * tensor.numel())  # standard error of a normal sample's spread
        assert abs(float(tensor.std()) - scale) < 5 * error
        assert abs(float(tensor.mean())) < 5 * scale / math.sqrt(tensor.numel())


def test_pytorch_init_is_torchs_own_bit_for_bit() -> None:
    config = replace(SMALL, layers=1, mlp="none", init="pytorch", bias=True)
    model = Decoder(config, seeded(4))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(4)
        embedding = nn.Embedding(23, 16)
        linears = [nn.Linear(16, 16) for _ in range(4)]
    assert torch.equal(model.embedding.weight, embedding.weight)
    for name, linear in zip(("query", "key", "value", "output"), linears, strict=True):
        ours = model.get_submodule(f"blocks.0.attention.{name}")
        assert torch.equal(ours.get_parameter("weight"), linear.weight)
        assert torch.equal(ours.get_parameter("bias"), linear.bias)


def test_a_meta_decoder_has_shapes_and_no_weights() -> None:
    with torch.device("meta"):
        model = Decoder(SMALL)
    assert {parameter.device.type for parameter in model.parameters()} == {"meta"}
    real = Decoder(SMALL).state_dict()
    assert {name: tensor.shape for name, tensor in model.state_dict().items()} == {
        name: tensor.shape for name, tensor in real.items()
    }


# --- dropout --------------------------------------------------------------------------------------------


def test_dropout_repeats_with_its_generator_and_leaves_the_global_one() -> None:
    model = Decoder(replace(SMALL, dropout=0.3), seeded(1))
    before = torch.get_rng_state()
    rng = seeded(9)
    first, second = model(TOKENS, dropout_rng=rng), model(TOKENS, dropout_rng=rng)
    assert torch.equal(before, torch.get_rng_state())
    assert torch.equal(first, model(TOKENS, dropout_rng=seeded(9)))
    assert not torch.equal(first, second)


def test_no_dropout_in_eval_mode_or_at_rate_zero() -> None:
    model = Decoder(replace(SMALL, dropout=0.3), seeded(1))
    with pytest.raises(BadContract, match="dropout_rng"):
        model(TOKENS)
    rng = seeded(9)
    untouched = rng.get_state()
    plain = Decoder(SMALL, seeded(1))
    expected = plain(TOKENS)
    assert torch.equal(model.eval()(TOKENS, dropout_rng=rng), expected)
    assert torch.equal(plain(TOKENS, dropout_rng=rng), expected)
    assert torch.equal(rng.get_state(), untouched)


def test_dropout_falls_on_embedding_attention_and_mlp_output_at_its_rate() -> None:
    model = Decoder(replace(SMALL, layers=1, dropout=0.25, width=64), seeded(1))
    seen: dict[str, Tensor] = {}
    for name in ("embedding", "blocks.0.attention", "blocks.0.mlp", "blocks.0"):
        module = model.get_submodule(name)
        module.register_forward_hook(lambda _, inputs, output, name=name: seen.update({name: output}))
    model.blocks[0].register_forward_pre_hook(lambda _, inputs: seen.update({"before": inputs[0]}))
    model(TOKENS, dropout_rng=seeded(2))
    kept = seen["before"] != 0
    torch.testing.assert_close(seen["before"][kept], seen["embedding"][kept] / 0.75)
    assert abs(kept.float().mean().item() - 0.75) < 5 * math.sqrt(0.25 * 0.75 / kept.numel())
    # What the block added is one of four combinations, feature by feature, in the proportions 1 : 3 : 3 : 9.
    attention, mlp = seen["blocks.0.attention"], seen["blocks.0.mlp"]
    choices = torch.stack([a * attention + m * mlp for a in (0, 4 / 3) for m in (0, 4 / 3)])
    gap, which = (choices - (seen["blocks.0"] - seen["before"])).abs().min(0)
    assert gap.max() < 1e-5
    share = which.flatten().bincount(minlength=4) / which.numel()
    torch.testing.assert_close(share, torch.tensor([1, 3, 3, 9]) / 16, atol=0.05, rtol=0)


def test_dropout_keeps_the_mean() -> None:
    model = Decoder(replace(SMALL, dropout=0.5), seeded(1))
    seen: list[Tensor] = []
    model.blocks[0].register_forward_pre_hook(lambda module, inputs: seen.append(inputs[0]))
    rng = seeded(2)
    for _ in range(400):
        model(TOKENS[:1], dropout_rng=rng)
    draws, expected = torch.stack(seen), model.embedding(TOKENS[:1])
    assert ((draws.mean(0) - expected).abs() <= 6 * expected.abs() / math.sqrt(400)).all()


# --- attention ------------------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 33), st.sampled_from([(4, 4), (4, 2), (6, 1)]), st.sampled_from([2, 8, 32]))
def test_eager_attention_equals_the_fused_kernel(length: int, heads: tuple[int, int], size: int) -> None:
    rng = seeded(length)
    query = torch.randn(2, heads[0], length, size, generator=rng)
    key, value = (torch.randn(2, heads[1], length, size, generator=rng) for _ in range(2))
    output, pattern = attend_eagerly(query, key, value)
    torch.testing.assert_close(output, attend(query, key, value, layer=0, loop=0), atol=1e-5, rtol=0)
    torch.testing.assert_close(pattern.sum(-1), torch.ones(2, heads[0], length))
    assert not pattern.triu(1).any()


def test_equal_keys_give_a_uniform_causal_pattern() -> None:
    query, value = torch.randn(1, 2, 4, 8, generator=seeded()), torch.randn(1, 2, 4, 8, generator=seeded(1))
    _, pattern = attend_eagerly(query, torch.ones(1, 2, 4, 8), value)
    expected = torch.tril(torch.ones(4, 4)) / torch.arange(1, 5)[:, None]
    torch.testing.assert_close(pattern, expected.expand(1, 2, 4, 4))


def test_attention_can_be_tapped_and_put_back() -> None:
    model = trained_like(replace(SMALL, loops=2, kv_heads=2, qk_norm=True))
    expected, calls = model(TOKENS), []

    def tap(query: Tensor, key: Tensor, value: Tensor, *, layer: int, loop: int) -> Tensor:
        output, pattern = attend_eagerly(query, key, value)
        calls.append((loop, layer, query, key, value, pattern))
        return output

    formers = [block.attention.attend for block in model.blocks]
    for block in model.blocks:
        block.attention.attend = tap
    torch.testing.assert_close(model(TOKENS), expected, atol=1e-4, rtol=1e-4)
    for block, former in zip(model.blocks, formers, strict=True):
        block.attention.attend = former
    assert [call[:2] for call in calls] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    _, _, query, key, value, pattern = calls[0]
    assert (query.shape, key.shape, value.shape) == ((3, 4, 12, 4), (3, 2, 12, 4), (3, 2, 12, 4))
    assert pattern.shape == (3, 4, 12, 12)
    assert torch.equal(model(TOKENS), expected)
    assert len(calls) == 4


def test_query_norm_comes_before_the_rotation() -> None:
    model = trained_like(replace(SMALL, qk_norm=True))
    attention = model.blocks[0].attention
    features = torch.randn(1, 5, 16, generator=seeded())
    seen: list[Tensor] = []
    attention.attend = lambda query, key, value, **_: seen.extend((query, key)) or query
    cosine, sine = rotary_tables(5, 4, 10000.0)
    attention(features, (cosine, sine), 0)
    for got, linear, norm in zip(
        seen,
        (attention.query, attention.key),
        (attention.query_norm, attention.key_norm),
        strict=True,
    ):
        heads = linear(features).unflatten(-1, (4, 4))
        normed = heads / (heads.square().mean(-1, keepdim=True) + 1e-5).sqrt() * norm.weight
        torch.testing.assert_close(got, rotated(normed.transpose(1, 2), (cosine, sine)))


def test_a_decoder_learns() -> None:
    """Three sequences are learned by heart with many switches on, and every parameter has a gradient."""
    config = replace(SMALL, qk_norm=True, loops=2, bias=True, norm="layernorm", kv_heads=2, dropout=0.05)
    model, rng = Decoder(config, seeded(1)), seeded(2)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    losses = []
    for _ in range(60):
        output = model(TOKENS[:, :-1], dropout_rng=rng)
        loss = F.cross_entropy(output.flatten(0, 1), TOKENS[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert abs(losses[0] - math.log(23)) < 0.2
    assert losses[-1] < 0.5
    assert sum(later < earlier for earlier, later in pairwise(losses)) > 40
    assert all(parameter.grad is not None and parameter.grad.any() for parameter in model.parameters())
