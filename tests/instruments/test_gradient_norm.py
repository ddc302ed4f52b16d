"""TEL-01: the length of the gradient, whole and in parts."""

import math

import pytest
import torch
from torch import nn

from ontogeny.catalogue import part
from ontogeny.instruments import gradient_norm
from ontogeny.record.norms import named_trainable, norm_groups
from ontogeny.testing import check_declaration, check_online, online_record
from ontogeny.vocabulary import Status


def after_backward(model: nn.Module) -> dict[str, torch.Tensor]:
    """Gradients of half the squared weights."""
    (sum(p.square().sum() for p in model.parameters()) / 2).backward()
    return {name: p.grad for name, p in named_trainable(model).items() if p.grad is not None}


def number(found, component: str = "") -> float:
    return float(found[component].value)


def test_half_the_squared_weights_give_their_length():
    model = nn.Sequential(nn.Linear(5, 7), nn.LayerNorm(7), nn.Linear(7, 2))
    parameters = named_trainable(model)
    found = gradient_norm(after_backward(model), parameters)
    length = math.sqrt(sum(float(p.detach().double().square().sum()) for p in parameters.values()))
    assert number(found) == pytest.approx(length, rel=1e-6)
    assert found[""].n == sum(p.numel() for p in parameters.values())


def test_the_squares_of_the_groups_add_up():
    model = nn.Sequential(nn.Linear(5, 7), nn.LayerNorm(7), nn.Linear(7, 2))
    parameters, gradients = named_trainable(model), after_backward(model)
    names = list(parameters)
    squares = []
    for indices in norm_groups(parameters).values():
        group = [names[i] for i in indices]
        here = gradient_norm({n: gradients[n] for n in group}, {n: parameters[n] for n in group})
        squares.append(number(here) ** 2)
    assert len(squares) == 4
    assert sum(squares) == pytest.approx(number(gradient_norm(gradients, parameters)) ** 2, rel=1e-6)


def test_the_groups_are_the_embedding_and_every_matrix_of_every_layer():
    groups = {name.split("/")[1] for name in online_record(["gradient_norm"], 1)[0] if "/" in name}
    layers = {int(name.split(".")[1]) for name in groups if name.startswith("blocks.")}
    expected = {"embedding", "norms"}
    for layer in layers:
        expected |= {f"blocks.{layer}.attention.{m}" for m in ("query", "key", "value", "output")}
        expected |= {f"blocks.{layer}.mlp.{m}" for m in ("up", "gate", "down")}
    assert groups == expected


def test_tied_tensors_count_once():
    model = nn.Sequential(nn.Linear(3, 3, bias=False), nn.Linear(3, 3, bias=False))
    model[1].weight = model[0].weight
    parameters = named_trainable(model)
    assert len(parameters) == 1
    assert gradient_norm(after_backward(model), parameters)[""].n == 9


@pytest.mark.parametrize(("length", "coefficient"), [(0.5, 1.0), (4.0, 0.25), (0.0, 1.0)])
def test_by_what_it_would_be_clipped(length, coefficient):
    gradient = {"a": torch.tensor([length, 0.0])}
    assert number(gradient_norm(gradient, gradient), "clip_coefficient") == coefficient
    assert number(gradient_norm(gradient, gradient, clip=length or 1.0), "clip_coefficient") == 1


def test_what_has_no_gradient_is_skipped_and_counted():
    parameters = {"a": torch.ones(2), "b": torch.ones(3)}
    found = gradient_norm({"a": torch.tensor([3.0, 4.0])}, parameters)
    assert (number(found), number(found, "without_gradient")) == (5, 1)
    nothing = gradient_norm({}, parameters)
    assert nothing[""].status == Status.NO_TARGET
    assert number(nothing, "without_gradient") == 2


def test_entries_that_are_not_finite_are_counted_and_leave_no_number():
    found = gradient_norm({"a": torch.tensor([1.0, math.nan, math.inf])}, {"a": torch.zeros(3)})
    assert math.isnan(number(found))
    assert found[""].status == Status.NONFINITE
    assert number(found, "nonfinite") == 2
    huge = gradient_norm({"a": torch.full((4,), 3e38)}, {"a": torch.zeros(4)})
    assert (huge[""].reason, number(huge, "nonfinite")) == ("it is beyond float32", 0)


def test_scale_and_order():
    gradient = {"a": torch.randn(4, 5), "b": torch.randn(3)}
    once = number(gradient_norm(gradient, gradient))
    scaled = {name: 8 * tensor for name, tensor in reversed(gradient.items())}
    assert number(gradient_norm(scaled, scaled)) == pytest.approx(8 * once, rel=1e-12)


def test_half_precision_is_squared_in_float32():
    gradient = {"a": torch.full((1000,), 300.0, dtype=torch.float16)}
    assert number(gradient_norm(gradient, gradient)) == pytest.approx(300 * math.sqrt(1000), rel=1e-6)


def test_it_keeps_the_contract():
    check_declaration(part("instrument", "gradient_norm"))
    check_online(part("instrument", "gradient_norm"))
