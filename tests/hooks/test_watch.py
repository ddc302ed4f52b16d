"""Calls, their places, and what is a call at all."""

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from ontogeny.errors import BadContract, NotObservable
from ontogeny.hooks.modules import Wire, tapped_modules
from ontogeny.hooks.watch import Watch, compiled, recomputing
from ontogeny.vocabulary import Place

HERE = Place(layer=0)


def test_calls_are_placed_in_order_and_those_without_a_place_are_not_shown():
    seen = []
    watch = Watch("residual", "block", [HERE, None, Place(layer=2)], lambda place, x: seen.append(place))
    for _ in range(6):
        watch.show(torch.ones(1))
    assert seen == [HERE, Place(layer=2)] * 2
    assert watch.seen == 6


def test_a_replacement_of_another_shape_is_refused():
    watch = Watch("residual", "block", [HERE], lambda place, x: x[:1])
    with pytest.raises(BadContract, match="tensor of another shape"):
        watch.show(torch.ones(2))
    assert watch.shown(torch.ones(1)).tolist() == [1]


@pytest.mark.parametrize("reentrant", [True, False])
def test_a_repetition_in_the_backward_pass_is_no_call(reentrant):
    block, seen, repeated = nn.Sequential(nn.Linear(2, 2), nn.Tanh()), [], []
    watch = Watch("residual", "block", [HERE], lambda place, x: seen.append(x.sum().item()))
    block[0].register_forward_hook(lambda *_: repeated.append(recomputing()))
    given = torch.ones(1, 2, requires_grad=True)
    with tapped_modules([Wire(block[0], watch)]):
        checkpoint(block, given, use_reentrant=reentrant).sum().backward()
    assert repeated == [False, True]
    assert len(seen) == watch.seen == 1


@pytest.mark.parametrize("reentrant", [True, False])
def test_a_replacement_is_repeated_too_so_that_gradients_are_its_own(reentrant):
    block = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 2))
    gradients = []
    for checkpointed in (False, True):
        block.zero_grad()
        watch = Watch("residual", "block", [HERE], lambda place, x: x * 3)
        given = torch.ones(1, 2, requires_grad=True)
        with tapped_modules([Wire(block[0], watch)]):
            output = checkpoint(block, given, use_reentrant=reentrant) if checkpointed else block(given)
            output.sum().backward()
        gradients.append(block[0].weight.grad.clone())
        assert watch.seen == 1
    assert torch.equal(*gradients)
    assert gradients[0].abs().max() > 0


def test_which_of_several_uses_is_repeated_cannot_be_told():
    block = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
    watch = Watch("residual", "block", [HERE, Place(layer=1)], lambda place, x: x * 2)
    with tapped_modules([Wire(block[0], watch)]):
        once = checkpoint(block, torch.ones(1, 2, requires_grad=True), use_reentrant=False)
        twice = checkpoint(block, once, use_reentrant=False).sum()
        with pytest.raises(NotObservable, match="applied several times"):
            twice.backward()


def test_compiled_modules_are_named():
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    assert compiled(model) == []
    model[1].compile(backend="eager")
    assert compiled(model) == ["1"]
