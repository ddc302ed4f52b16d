"""Weights go into a model by name, wholly or not at all."""

import pytest
import torch
from torch import nn

from ontogeny.errors import ForeignCheckpoint
from ontogeny.formats import Weights
from ontogeny.subject.filling import fill


def stack(seed: int = 0) -> nn.Sequential:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))


def weights_of(model: nn.Module, **changes) -> Weights:
    return Weights({name: tensor.detach().clone() for name, tensor in model.state_dict().items()} | changes)


def test_parameters_and_buffers_are_copied_bit_for_bit():
    source, target = stack(0), stack(1)
    source[1].running_mean.normal_()
    fill(target, weights_of(source), "a")
    assert all(torch.equal(t, source.state_dict()[n]) for n, t in target.state_dict().items())


def test_the_model_may_be_the_wrapped_one():
    source, target = stack(0), stack(1)
    fill(nn.DataParallel(target), weights_of(source), "a")
    assert torch.equal(target[0].weight, source[0].weight)


def test_values_are_cast_to_the_models_dtype():
    target = stack(1)
    fill(target, Weights({n: t.double() for n, t in stack(0).state_dict().items()}), "a")
    assert target[0].weight.dtype is torch.float32
    assert torch.equal(target[0].weight, stack(0)[0].weight)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda t: t.pop("2.weight"), r"missing_keys: 2\.weight"),
        (lambda t: t.update({"2.bias": torch.ones(3)}), r"mismatched_keys: 2\.bias \[3\] instead of \[2\]"),
        (lambda t: t.update({"3.weight": torch.ones(3)}), r"unexpected_keys: 3\.weight"),
    ],
)
def test_what_does_not_fit_is_named_and_nothing_is_written(spoil, said):
    target = stack(1)
    before = weights_of(target).hash
    tensors = dict(weights_of(stack(0)).tensors)
    spoil(tensors)
    with pytest.raises(ForeignCheckpoint, match=said):
        fill(target, Weights(tensors), "a")
    assert weights_of(target).hash == before


def test_no_name_in_common_shows_both_sides():
    with pytest.raises(ForeignCheckpoint, match=r"checkpoint has other\.weight; the model has .*0\.bias"):
        fill(stack(), Weights({"other.weight": torch.ones(2)}), "a")


def tied() -> nn.Sequential:
    model = nn.Sequential(nn.Linear(4, 4, bias=False), nn.Linear(4, 4, bias=False))
    model[1].weight = model[0].weight
    return model


@pytest.mark.parametrize("names", [("0.weight",), ("1.weight",), ("0.weight", "1.weight")])
def test_a_tie_is_filled_from_any_of_its_names_and_stays(names):
    model, value = tied(), torch.randn(4, 4)
    fill(model, Weights(dict.fromkeys(names, value)), "a")
    assert model[0].weight is model[1].weight
    assert torch.equal(model[1].weight, value)


def test_an_alias_in_the_weights_fills_untied_names():
    model, value = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False)), torch.randn(2, 2)
    fill(model, Weights({"0.weight": value}, aliases={"1.weight": "0.weight"}), "a")
    assert torch.equal(model[1].weight, value)


def test_different_values_for_a_tie_are_refused():
    with pytest.raises(ForeignCheckpoint, match="ties"):
        fill(tied(), Weights({"0.weight": torch.zeros(4, 4), "1.weight": torch.ones(4, 4)}), "a")


def test_constants_of_older_releases_may_be_left_over():
    names = ("h.0.attn.bias", "h.0.attn.masked_bias", "l.0.rotary_emb.inv_freq", "embeddings.position_ids")
    fill(stack(1), weights_of(stack(0), **{name: torch.ones(1) for name in names}), "a")
    with pytest.raises(ForeignCheckpoint, match=r"attn\.c_proj\.bias"):
        fill(stack(1), weights_of(stack(0), **{"h.0.attn.c_proj.bias": torch.ones(1)}), "a")


def test_a_model_without_values_is_refused():
    with torch.device("meta"):
        empty = stack()
    with pytest.raises(ForeignCheckpoint, match="meta"):
        fill(empty, weights_of(stack()), "a")
