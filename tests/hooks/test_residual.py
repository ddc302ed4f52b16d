"""Hooks on blocks, whatever a block returns."""

import pytest
import torch
from torch import nn

from ontogeny.hooks.residual import tapped_blocks


class Pair(nn.Module):
    """A block of the older kind: it returns its stream and something else."""

    def forward(self, stream):
        return stream + 1, "cache"


def run(blocks, stream):
    for block in blocks:
        out = block(stream)
        stream = out if isinstance(out, torch.Tensor) else out[0]
    return stream


@pytest.mark.parametrize("kind", [Pair, nn.ReLU])
def test_a_tap_sees_the_stream_and_may_replace_it(kind):
    blocks = [kind(), kind()]
    seen = []
    with tapped_blocks(blocks, lambda layer, loop, x: seen.append((layer, loop, x.sum().item()))):
        run(blocks, torch.ones(3))
    assert [found[:2] for found in seen] == [(0, 0), (1, 0)]
    assert seen[1][2] == (9 if kind is Pair else 3)
    with tapped_blocks(blocks, lambda layer, loop, x: x * 10 if layer == 1 else None):
        assert run(blocks, torch.ones(3)).tolist() == ([30] * 3 if kind is Pair else [10] * 3)
    assert run(blocks, torch.ones(3)).tolist() == ([3] * 3 if kind is Pair else [1] * 3)


def test_what_else_a_block_returns_is_kept():
    block = Pair()
    with tapped_blocks([block], lambda layer, loop, x: x * 0):
        assert block(torch.ones(2))[1] == "cache"


def test_loops_are_counted_over_calls_and_passes():
    block, seen = nn.Identity(), []
    with tapped_blocks([block], lambda layer, loop, x: seen.append(loop), loops=3):
        for _ in range(6):
            block(torch.ones(1))
    assert seen == [0, 1, 2, 0, 1, 2]


def test_hooks_are_gone_after_an_error():
    blocks = [nn.Identity(), nn.Identity()]

    def fails():
        with tapped_blocks(blocks, lambda layer, loop, x: x[5]):
            run(blocks, torch.ones(2))

    with pytest.raises(IndexError):
        fails()
    assert not any(block._forward_hooks for block in blocks)
