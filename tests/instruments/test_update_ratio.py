"""TEL-02: how large a step is beside the weights."""

import math

import pytest
import torch
from torch import nn

from ontogeny.catalogue import part
from ontogeny.instruments import update_ratio
from ontogeny.record.online import OnlineParts
from ontogeny.testing import check_declaration, check_online
from ontogeny.vocabulary import Status


def stepped(optimizer, gradients: list[torch.Tensor], start: torch.Tensor) -> list[dict[str, float]]:
    """What it reads of one parameter under given gradients, a record a step."""
    model = nn.Module()
    model.weight = nn.Parameter(start.clone())
    made = optimizer([model.weight])
    online, records = OnlineParts({"update_ratio": 1}), []
    with online.watching(model, made, lambda: len(records)):
        for gradient in gradients:
            model.weight.grad = gradient.clone()
            made.step()
            records.append(online.take(len(records) + 1)[0])
    return records


def test_plain_descent_moves_by_the_rate_times_the_gradient():
    start, gradient = torch.randn(6, 4), torch.randn(6, 4)
    found = stepped(lambda p: torch.optim.SGD(p, lr=0.01), [gradient], start)[0]
    expected = 0.01 * float(gradient.norm()) / float(start.norm())
    assert found["update_ratio"] == pytest.approx(expected, rel=1e-5)
    assert found["update_ratio.update_norm"] == pytest.approx(0.01 * float(gradient.norm()), rel=1e-5)
    assert found["update_ratio.decay_norm"] == 0


def test_adam_under_a_constant_gradient_moves_every_weight_by_the_rate():
    gradient = torch.randn(6, 4) + 3
    records = stepped(lambda p: torch.optim.Adam(p, lr=0.02, eps=0), [gradient] * 4, torch.randn(6, 4))
    for record in records:
        assert record["update_ratio.update_norm"] == pytest.approx(0.02 * math.sqrt(24), rel=1e-4)


def test_the_part_that_decoupled_decay_made():
    start = torch.randn(6, 4)
    adamw = lambda p: torch.optim.AdamW(p, lr=0.1, weight_decay=0.3)
    found = stepped(adamw, [torch.zeros(6, 4)], start)[0]
    assert found["update_ratio.decay_norm"] == pytest.approx(0.03 * float(start.norm()), rel=1e-6)
    assert found["update_ratio"] == pytest.approx(0.03, rel=1e-5), "with no gradient it is all of the step"


def test_weights_of_zero_have_no_ratio_and_an_update():
    found = update_ratio({"a": torch.ones(4)}, {"a": torch.full((4,), 1e-14)}, {"a": 0.0})
    assert found[""].status == Status.ZERO_WEIGHT
    assert math.isnan(float(found[""].value))
    assert float(found["update_norm"].value) == 2


@pytest.mark.parametrize("scale", [1e-3, 4.0])
def test_the_ratio_knows_no_scale(scale):
    update, weight = torch.randn(5, 5), torch.randn(5, 5)
    one = update_ratio({"a": update}, {"a": weight}, {"a": 0.1})
    other = update_ratio({"a": scale * update}, {"a": scale * weight}, {"a": 0.1})
    assert float(other[""].value) == pytest.approx(float(one[""].value), rel=1e-6)


def test_a_weight_that_is_not_finite_leaves_no_number():
    found = update_ratio({"a": torch.ones(2)}, {"a": torch.tensor([math.nan, 1.0])}, {"a": 0.0})
    assert math.isnan(float(found[""].value))
    assert found[""].status == Status.NONFINITE


def test_it_keeps_the_contract():
    check_declaration(part("instrument", "update_ratio"))
    check_online(part("instrument", "update_ratio"))
