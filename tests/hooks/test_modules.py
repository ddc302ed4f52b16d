"""Hooks on inputs and outputs of modules, whatever they take and return."""

import pytest
import torch
from torch import nn

from ontogeny.errors import NotObservable
from ontogeny.hooks.modules import Wire, counted, shown_output, tapped_modules
from ontogeny.hooks.watch import Watch
from ontogeny.vocabulary import Place

FIRST, SECOND = Place(layer=0), Place(layer=1)


class Pair(nn.Module):
    """A block of the older kind: it returns its stream and something else."""

    def forward(self, stream, more=None):
        return stream + 1, "cache"


class Named(nn.Module):
    """A block that is given its stream by name."""

    def forward(self, *, flag=None, hidden_states):
        return hidden_states + 1


class Model(nn.Module):
    def __init__(self, *blocks):
        super().__init__()
        self.blocks = nn.ModuleList(blocks)

    def forward(self, stream):
        for block in self.blocks:
            out = block(hidden_states=stream, flag=2) if isinstance(block, Named) else block(stream)
            stream = out if isinstance(out, torch.Tensor) else out[0]
        return stream


def watch(tap, *places) -> Watch:
    return Watch("residual", "blocks", places or (FIRST,), tap)


@pytest.mark.parametrize("kind", [Pair, Named, nn.ReLU])
@pytest.mark.parametrize("side", ["input", "output"])
def test_a_tap_sees_the_stream_and_may_replace_it(kind, side):
    model, seen = Model(kind(), kind()), []
    adds = 0 if kind is nn.ReLU else 1
    wires = [Wire(model.blocks[1], watch(lambda place, x: seen.append(x.sum().item())), side)]
    with tapped_modules(wires):
        model(torch.ones(3))
    assert seen == [3 + 3 * (adds + (adds if side == "output" else 0))]
    with tapped_modules([Wire(model.blocks[1], watch(lambda place, x: x * 10), side)]):
        changed = model(torch.ones(3))
    assert changed.tolist() == [10 * (1 + adds) + adds if side == "input" else 10 * (1 + 2 * adds)] * 3
    assert model(torch.ones(3)).tolist() == [1 + 2 * adds] * 3


def test_what_else_a_block_returns_is_kept():
    block = Pair()
    with tapped_modules([Wire(block, watch(lambda place, x: x * 0))]):
        assert block(torch.ones(2))[1] == "cache"


def test_the_last_axis_is_cut_into_heads_and_put_together_again():
    block, seen = nn.Identity(), []

    def second_head_off(place, x):
        seen.append(x.shape)
        return torch.cat([x[..., :1, :], x[..., 1:, :] * 0], -2)

    with tapped_modules([Wire(block, watch(second_head_off), "input", heads=2)]):
        assert block(torch.arange(6.0).view(1, 6)).tolist() == [[0, 1, 2, 0, 0, 0]]
    assert seen == [(1, 2, 3)]


def test_taps_of_one_module_are_asked_in_order():
    block, heard = nn.Identity(), []
    wires = [Wire(block, watch(lambda place, x, name=name: heard.append(name))) for name in "abc"]
    with tapped_modules(wires):
        block(torch.ones(1))
    assert heard == ["a", "b", "c"]


def test_hooks_are_gone_after_an_error():
    model = Model(nn.Identity(), nn.Identity())

    def fails():
        wires = [Wire(block, watch(lambda place, x: x[5]), side) for block in model.blocks for side in SIDES]
        with tapped_modules(wires), counted(model, []):
            model(torch.ones(2))

    with pytest.raises(IndexError):
        fails()
    for module in model.modules():
        assert not module._forward_hooks
        assert not module._forward_pre_hooks
        assert not module._forward_pre_hooks_with_kwargs


SIDES = ("input", "output")


def test_a_shared_block_is_seen_at_each_of_its_places():
    shared, seen = nn.ReLU(), []
    model = Model(shared, shared)
    both = watch(lambda place, x: seen.append(place), FIRST, SECOND)
    with tapped_modules([Wire(shared, both)]), counted(model, [both]):
        model(torch.ones(1))
        model(torch.ones(1))
    assert seen == [FIRST, SECOND] * 2


def test_a_pass_that_calls_less_than_expected_is_refused():
    model = Model(nn.ReLU())
    twice = watch(lambda place, x: None, FIRST, SECOND)
    with (
        pytest.raises(NotObservable, match="seen 1 times in a pass"),
        tapped_modules([Wire(model.blocks[0], twice)]),
        counted(model, [twice]),
    ):
        model(torch.ones(1))


def test_a_pass_that_fails_half_way_does_not_shift_the_next_one():
    model, seen = Model(nn.ReLU(), Pair()), []
    watches = [watch(lambda place, x: seen.append(place), place) for place in (FIRST, SECOND)]
    wires = [Wire(block, w) for block, w in zip(model.blocks, watches, strict=True)]
    with tapped_modules(wires), counted(model, watches):
        with pytest.raises(TypeError):
            model("no tensor")
        model(torch.ones(1))
    assert seen == [FIRST, SECOND]


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        (torch.ones(1), 1.0),
        ((torch.zeros(1), 2), 0.0),
        ({"a": torch.ones(1)}, 1.0),
        ("text", None),
        ((), None),
    ],
)
def test_what_of_an_output_is_shown(output, shown):
    found = shown_output(output)
    assert (None if found is None else found.item()) == shown
