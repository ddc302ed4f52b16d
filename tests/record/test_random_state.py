"""The global generators come back exactly, through JSON, wherever they stood."""

import json
import random

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ontogeny.record.random_state import RandomState, random_state, restore_random_state, undisturbed


def draws() -> list[float]:
    """A few numbers of every generator, normal ones too: they keep a second one back."""
    return [
        random.random(),
        random.gauss(0, 1),
        *np.random.standard_normal(3).tolist(),
        np.random.random(),
        *torch.randn(3).tolist(),
        *torch.rand(2).tolist(),
    ]


@pytest.fixture(autouse=True)
def _undisturbed():
    with undisturbed():
        yield


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(0, 700), st.booleans())
def test_a_round_trip_through_json_restores_every_bit(seed, spent, half):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    np.random.random(spent)
    torch.rand(spent)
    if half:  # one of a pair of normal numbers is kept back in Python and in NumPy
        random.gauss(0, 1)
        np.random.standard_normal()
    before = RandomState.now()
    document = json.loads(json.dumps(random_state()))
    expected = draws()
    restore_random_state(document)
    assert RandomState.now().changes_since(before) == RandomState()
    assert draws() == expected


def test_other_bit_generators_of_numpy_come_back_too():
    legacy = np.random.get_bit_generator()
    try:
        for kind in (np.random.PCG64, np.random.Philox, np.random.SFC64):
            np.random.set_bit_generator(kind(5))
            np.random.standard_normal(3)
            document = json.loads(json.dumps(random_state()))
            expected = draws()
            restore_random_state(document)
            assert draws() == expected
    finally:
        np.random.set_bit_generator(legacy)


def test_only_what_moved_is_told():
    before = RandomState.now()
    torch.rand(1)
    assert list(RandomState.now().changes_since(before).document()) == ["torch"]
    before = RandomState.now()
    random.random()
    np.random.random()
    moved = RandomState.now().changes_since(before)
    assert list(moved.document()) == ["python", "numpy"]
    expected = draws()[:6]
    torch.rand(7)
    torch_now = torch.get_rng_state()
    RandomState.of(moved.document()).put_back()
    assert torch.equal(torch.get_rng_state(), torch_now), "what is not told is left alone"
    assert draws()[:6] == expected


def test_a_block_leaves_no_trace():
    before = RandomState.now()
    with undisturbed():
        draws()
    assert RandomState.now().changes_since(before) == RandomState()
