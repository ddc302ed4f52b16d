"""TRA-04: a permuted copy is recovered, whatever the decoder."""

import copy

import pytest
import torch
from torch import Tensor

from ontogeny.errors import BadContract
from ontogeny.models import Decoder, DecoderConfig
from ontogeny.numerics.permutation_alignment import Symmetries, permutation_alignment
from ontogeny.vocabulary import Reading, Streams

TOKENS = torch.randint(23, (3, 8), generator=torch.Generator().manual_seed(5))
EVERYTHING = Symmetries(value_output=True, query_key=True, residual=True)
#: Decoders, what may move in them.
CASES = {
    "llama": ({}, Symmetries()),
    "untied, biases, layernorm": (
        {"tied": False, "bias": True, "norm": "layernorm", "mlp": "gelu", "positions": "learned"},
        Symmetries(),
    ),
    "grouped": ({"kv_heads": 2}, Symmetries()),
    "one key head": ({"kv_heads": 1}, Symmetries()),
    "qk norm": ({"qk_norm": True}, Symmetries(value_output=True)),
    "values": ({}, Symmetries(value_output=True)),
    "grouped values": ({"kv_heads": 2}, Symmetries(value_output=True)),
    "looped": ({"loops": 2, "norm_place": "post"}, Symmetries()),
    "residual, tied": ({}, Symmetries(value_output=True, residual=True)),
    "everything": ({"positions": "learned", "mlp": "relu2", "bias": True}, EVERYTHING),
    "attention only": ({"mlp": "none", "positions": "none"}, EVERYTHING),
}


def decoder(seed: int = 0, **changes) -> Decoder:
    config = DecoderConfig(
        **{"vocabulary": 23, "context": 8, "width": 16, "layers": 2, "heads": 4, **changes}
    )
    model = Decoder(config, Streams(seed).generator("init")).eval()
    noise = Streams(seed).generator("noise")
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.3 * torch.randn(parameter.shape, generator=noise)
    return model


def shuffled(model: Decoder, allowed: Symmetries, seed: int = 1) -> dict[str, Tensor]:
    """The same function with its units in another order, written out tensor by tensor."""
    config, rng = model.config, torch.Generator().manual_seed(seed)
    state = copy.deepcopy(model.state_dict())

    def move(name: str, axis: int, order: Tensor) -> None:
        for kind in ("weight", "bias") if axis == 0 else ("weight",):
            if f"{name}.{kind}" in state:
                state[f"{name}.{kind}"] = state[f"{name}.{kind}"].index_select(axis, order)

    def some(size: int, moves: bool = True) -> list[int]:
        return torch.randperm(size, generator=rng).tolist() if moves else list(range(size))

    each, size = config.heads // config.key_heads, config.head_size
    for layer in range(config.layers):
        block = f"blocks.{layer}."
        if config.neurons:
            order = torch.tensor(some(config.neurons))
            for name, axis in (("gate", 0), ("up", 0), ("down", 1)):
                move(f"{block}mlp.{name}", axis, order)
        rows: dict[str, list[int]] = {"query": [], "key": [], "value": [], "output": []}
        for group in some(config.key_heads):
            turned, carried = some(size, allowed.query_key), some(size, allowed.value_output)
            rows["key"] += [group * size + i for i in turned]
            rows["value"] += [group * size + i for i in carried]
            for head in some(each):
                start = (group * each + head) * size
                rows["query"] += [start + i for i in turned]
                rows["output"] += [start + i for i in carried]
        for name, order in rows.items():
            move(f"{block}attention.{name}", int(name == "output"), torch.tensor(order))
    if allowed.residual:
        order = torch.tensor(some(config.width))
        for name in {key.rpartition(".")[0] for key in state}:
            kind = name.rpartition(".")[2]
            reads = kind in ("query", "key", "value", "gate", "up") or "embedding" in kind
            move(name, 1 if reads else 0, order)
    return state


def distance(one: dict[str, Tensor], other: dict[str, Tensor]) -> float:
    return sum(float((one[name] - other[name]).double().square().sum()) for name in one) ** 0.5


def logits(model: Decoder, state) -> Tensor:
    twin = copy.deepcopy(model)
    twin.load_state_dict(state)
    return twin(TOKENS)


@pytest.mark.parametrize("case", CASES)
@torch.no_grad()
def test_a_permuted_copy_is_recovered_bit_for_bit(case):
    changes, allowed = CASES[case]
    model = decoder(**changes)
    state = shuffled(model, allowed)
    assert distance(model.state_dict(), state) > 1, "the copy must be another point"
    assert (logits(model, state) - model(TOKENS)).abs().max() < 1e-5, "the copy must be the same function"
    found = permutation_alignment(model.state_dict(), state, model.config, torch.Generator(), allowed)
    assert distance(model.state_dict(), found.state) == 0
    assert torch.equal(logits(model, found.state), model(TOKENS))
    assert found.overlap > found.overlap_before


@pytest.mark.parametrize("case", CASES)
@torch.no_grad()
def test_another_model_comes_nearer_and_stays_the_same_function(case):
    changes, allowed = CASES[case]
    here, there = decoder(**changes), decoder(seed=9, **changes)
    found = permutation_alignment(
        here.state_dict(), there.state_dict(), here.config, torch.Generator(), allowed
    )
    before, after = (distance(here.state_dict(), state) for state in (there.state_dict(), found.state))
    assert after < before
    assert before**2 - after**2 == pytest.approx(2 * (found.overlap - found.overlap_before), rel=1e-4)
    assert (logits(there, found.state) - there(TOKENS)).abs().max() < 1e-5


def test_one_hidden_layer_converges_in_one_sweep():
    model = decoder(layers=1)
    state = shuffled(model, Symmetries())
    found = permutation_alignment(model.state_dict(), state, model.config, torch.Generator())
    assert found.sweeps == 1
    again = permutation_alignment(model.state_dict(), found.state, model.config, torch.Generator())
    assert again.sweeps == 0
    assert all(order.tolist() == sorted(order.tolist()) for order in again.orders.values())


def test_orders_say_where_features_come_from():
    model = decoder(layers=1)
    state = shuffled(model, Symmetries())
    found = permutation_alignment(model.state_dict(), state, model.config, torch.Generator())
    order = torch.from_numpy(found.orders["blocks.0.mlp.hidden"])
    up = "blocks.0.mlp.up.weight"
    assert torch.equal(state[up][order], model.state_dict()[up])
    heads = found.orders["blocks.0.attention.query"].reshape(4, 4)
    assert (heads % 4).tolist() == [[0, 1, 2, 3]] * 4, "features within a head keep their order"


def test_grouped_heads_stay_in_their_groups():
    here, there = decoder(kv_heads=2), decoder(seed=9, kv_heads=2)
    found = permutation_alignment(here.state_dict(), there.state_dict(), here.config, torch.Generator())
    for layer in range(2):
        key = found.orders[f"blocks.{layer}.attention.key"].reshape(2, 4)[:, 0] // 4
        query = found.orders[f"blocks.{layer}.attention.query"].reshape(2, 2, 4)[:, :, 0] // 8
        assert query.tolist() == [[group, group] for group in key.tolist()]


def test_what_is_not_asked_for_stays():
    here, there = decoder(), decoder(seed=9)
    only = Symmetries(heads=False)
    found = permutation_alignment(here.state_dict(), there.state_dict(), here.config, torch.Generator(), only)
    assert set(found.orders) == {"blocks.0.mlp.hidden", "blocks.1.mlp.hidden"}
    name = "blocks.0.attention.query.weight"
    assert torch.equal(found.state[name], there.state_dict()[name])


@pytest.mark.parametrize(
    ("changes", "asked"),
    [
        ({}, Symmetries(query_key=True)),
        ({"positions": "none", "qk_norm": True}, Symmetries(query_key=True)),
        ({}, Symmetries(heads=False, value_output=True)),
    ],
)
def test_a_symmetry_that_is_none_is_refused(changes, asked):
    model = decoder(**changes)
    with pytest.raises(BadContract, match="head"):
        permutation_alignment(model.state_dict(), model.state_dict(), model.config, torch.Generator(), asked)


def test_what_cannot_be_aligned_says_why():
    model, wide = decoder(), decoder(width=32)
    found = permutation_alignment(model.state_dict(), wide.state_dict(), model.config, torch.Generator())
    assert isinstance(found, Reading)
    assert "shape" in found.reason
    broken = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    broken["embedding.weight"][0, 0] = torch.nan
    found = permutation_alignment(model.state_dict(), broken, model.config, torch.Generator())
    assert isinstance(found, Reading)
    assert found.status == "nonfinite"
