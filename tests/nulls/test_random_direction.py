"""The null of prior_loading: as long as the prior's direction, and pointing anywhere."""

import pytest
import torch

from ontogeny.catalogue import part, parts
from ontogeny.numerics.token_ends import TokenEnds
from ontogeny.testing import TinyFacts, tiny_stimulus

FACTS, STIMULUS = TinyFacts(), tiny_stimulus("heldout")


def drawn(states, direction, gain=None):
    ends = TokenEnds(torch.zeros(40, states.shape[1]), torch.zeros(40, states.shape[1]), gain)
    make = part("null", "random_direction").make
    return make(states, ends, {"direction": direction}, FACTS, STIMULUS)


def test_draws_are_loadings_of_random_directions_as_long():
    states, direction = torch.randn(50, 64).double() + 3, 2.5 * torch.ones(64).double()
    found = drawn(states, direction)
    assert found.shape == (100,)
    # The mean's component along a random direction has standard deviation |mean| / sqrt(width).
    size = states.mean(0).norm() / direction.norm()
    assert float(found.square().mean().sqrt()) == pytest.approx(float(size) / 8, rel=0.25)
    assert float(found.max()) < size


def test_they_are_the_same_at_every_checkpoint_and_scale_as_the_loading_does():
    states, direction = torch.randn(50, 16).double(), torch.randn(16).double()
    assert torch.equal(drawn(states, direction), drawn(states, direction))
    assert torch.allclose(drawn(states, 2 * direction), drawn(states, direction) / 2)
    gain = torch.full((16,), 4.0)
    assert torch.allclose(drawn(states, direction, gain), drawn(states, direction) / 4)


def test_states_that_cancel_read_nothing_and_one_instrument_names_it():
    states = torch.randn(50, 16)
    assert drawn(torch.cat([states, -states]), torch.ones(16).double()).max() < 1e-6
    assert [one.name for one in parts("instrument").values() if one.null == "random_direction"] == [
        "prior_loading"
    ]
