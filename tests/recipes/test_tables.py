"""The tables take what they should, refuse the rest by its key, and mean what they say."""

import dataclasses

import pytest
import torch
from torch import nn

import ontogeny.objectives  # noqa: F401  (declares the parts)
from ontogeny.errors import BadRecipe
from ontogeny.models import Decoder, DecoderConfig
from ontogeny.recipes.tables import OPTIMIZERS, Model, Objective, Optimizer, Recording, Schedule


def test_the_model_table_is_the_decoder_s_config():
    mirrored = {field.name: field.default for field in dataclasses.fields(DecoderConfig)}
    del mirrored["vocabulary"], mirrored["context"]
    assert Model().model_dump() == mirrored


def test_an_objective_has_all_its_parameters():
    given = Objective.model_validate({"name": "modular_addition", "prime": 11})
    assert given.parameters == {"prime": 11, "train_share": 0.4, "batch": 512, "split_seed": 0}


@pytest.mark.parametrize("name", sorted(OPTIMIZERS))
def test_every_optimizer_takes_a_step(name):
    config = DecoderConfig(vocabulary=8, context=4, width=8, layers=1, heads=2, init="pytorch")
    model, tokens = Decoder(config), torch.arange(4)[None]
    before = [parameter.detach().clone() for parameter in model.parameters()]
    optimizer = Optimizer.model_validate({"name": name, "lr": 0.1}).over(model)
    for _ in range(2):  # some take no step before they have seen two gradients
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(tokens)[0], 7 - tokens[0], reduction="sum").backward()
        optimizer.step()
    changed = [not torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True)]
    assert all(changed)


@pytest.mark.parametrize("decay_embeddings", [False, True])
def test_decay_touches_matrices_and_embeddings_only_if_asked(decay_embeddings):
    config = DecoderConfig(
        vocabulary=8, context=4, width=8, layers=1, heads=2, norm="layernorm", bias=True, positions="learned"
    )
    model = Decoder(config)
    chosen = Optimizer(name="sgd", lr=0.1, weight_decay=0.5, decay_embeddings=decay_embeddings).over(model)
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    decayed, others = ({names[id(p)] for p in group["params"]} for group in chosen.param_groups)
    assert [group["weight_decay"] for group in chosen.param_groups] == [0.5, 0.0]
    assert decayed | others == set(names.values())
    assert {"blocks.0.attention.query.weight", "blocks.0.mlp.down.weight"} <= decayed
    assert all(name.endswith(".weight") and "norm" not in name for name in decayed)
    embeddings = {"embedding.weight", "position_embedding.weight"}
    assert embeddings <= (decayed if decay_embeddings else others)


def test_options_reach_torch_and_what_it_refuses_is_said():
    adam = Optimizer.model_validate({"name": "adam", "betas": (0.5, 0.6), "eps": 1e-4}).over(nn.Linear(2, 2))
    assert adam.defaults["betas"] == (0.5, 0.6)
    assert adam.defaults["eps"] == 1e-4
    for wrong in ({"betas": (2.0, 0.5)}, {"betas": (0.5,)}, {"betas": (0.5, 0.5, 0.5)}, {"eps": "x"}):
        with pytest.raises(BadRecipe, match=r"torch\.optim\.AdamW refuses"):
            Optimizer.model_validate(wrong)
    with pytest.raises(BadRecipe, match="momentum"):
        Optimizer.model_validate({"name": "adam", "momentum": 0.9})
    with pytest.raises(BadRecipe, match="weight_decay"):
        Optimizer(name="rprop", weight_decay=0.1)


def test_checking_an_optimizer_moves_no_random_numbers():
    state = torch.random.get_rng_state()
    Optimizer(name="adamw")
    assert torch.equal(state, torch.random.get_rng_state())


@pytest.mark.parametrize("name", ["constant", "linear", "cosine"])
def test_a_schedule_warms_up_then_falls_to_its_end(name):
    factors = [Schedule(name=name, warmup=10, final=0.1).factor(step, 100) for step in range(100)]
    assert factors[:10] == pytest.approx([(step + 1) / 10 for step in range(10)])
    assert factors[9:] == sorted(factors[9:], reverse=True)
    assert factors[-1] == pytest.approx(1.0 if name == "constant" else 0.1)
    assert factors[54] == pytest.approx(1.0 if name == "constant" else 0.55)


def test_a_schedule_without_warm_up_or_end():
    assert [Schedule().factor(step, 3) for step in range(3)] == [1, 1, 1]
    assert Schedule(name="linear").factor(2, 3) == 0
    assert Schedule(name="linear", warmup=5).factor(5, 5) == 0


def test_checkpoints_are_powers_of_two_then_regular():
    recording = Recording(every=32, dense_until=512)
    assert recording.scheduled(1000).steps()[:11] == [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512]
    assert recording.scheduled(1000).steps()[11:13] == [544, 576]
    assert Recording(explicit=(3, 7)).scheduled(10).steps() == [3, 7, 10]
