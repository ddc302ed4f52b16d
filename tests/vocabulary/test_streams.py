"""Random streams that nobody shares, and digests that tell bits apart."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ontogeny.vocabulary import Streams, digest


def numbers(streams: Streams, *key) -> list[float]:
    return torch.rand(4, generator=streams.generator(*key)).tolist()


def test_a_key_gives_the_same_numbers_whatever_was_drawn_before():
    streams = Streams(3)
    first = numbers(streams, "data", 5)
    numbers(streams, "dropout", 5)
    torch.rand(100)
    assert numbers(Streams(3), "data", 5) == first


@given(
    st.integers(0, 2**31),
    st.integers(0, 10**6),
    st.sampled_from(["init", "data", "dropout"]),
    st.text(max_size=4),
)
def test_any_part_of_the_key_changes_the_numbers(seed, step, stream, place):
    key = Streams(seed).key(stream, step, place)
    assert key == Streams(seed).key(stream, step, place)
    others = {
        Streams(seed + 1).key(stream, step, place),
        Streams(seed).key(stream, step + 1, place),
        Streams(seed).key("sampling", step, place),
        Streams(seed).key(stream, step, place + "x"),
    }
    assert key not in others
    assert len(others) == 4


def test_global_generators_are_left_alone():
    before = torch.get_rng_state()
    numbers(Streams(0), "data", 1)
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize(
    "tensor",
    [
        torch.arange(6.0).view(2, 3),
        torch.tensor(1.5),
        torch.empty(0, 4),
        torch.tensor([True, False]),
        torch.tensor([1 + 2j]),
        torch.ones(3, dtype=torch.bfloat16),
        torch.tensor([float("nan"), -0.0]),
    ],
)
def test_equal_bits_give_equal_digests_and_nothing_else_does(tensor):
    assert digest([tensor]) == digest([tensor.clone()])
    assert digest([tensor]) != digest([tensor, tensor])
    assert digest([tensor]) != digest([tensor.reshape(1, *tensor.shape)])


def test_one_bit_order_sign_and_dtype_are_told_apart():
    ones = torch.ones(5)
    flipped = ones.clone()
    flipped.view(torch.int32)[3] ^= 1
    assert digest([ones]) != digest([flipped])
    assert digest([torch.tensor([0.0])]) != digest([torch.tensor([-0.0])])
    assert digest([torch.zeros(2)]) != digest([torch.zeros(2, dtype=torch.int32)])
    assert digest([ones, flipped]) != digest([flipped, ones])
    strided = torch.arange(12.0).view(3, 4).T
    assert digest([strided]) == digest([strided.contiguous()])
