"""TRA-03."""

import copy
import math

import numpy as np
import pytest
import torch

from ontogeny.models import Decoder, DecoderConfig
from ontogeny.numerics.connectivity import barrier
from ontogeny.numerics.permutation_alignment import permutation_alignment


def state(*values: float) -> dict[str, torch.Tensor]:
    return {"w": torch.tensor(values)}


def test_equal_ends_have_no_barrier_at_all():
    here = {"w": torch.randn(50, generator=torch.Generator().manual_seed(0))}
    found = barrier(here, {"w": here["w"].clone()}, lambda at: float(at["w"].sin().sum()))
    assert found.reading.value == 0
    assert len(set(found.losses.tolist())) == 1


def test_a_parabola_is_below_its_chord():
    found = barrier(state(3.0), state(-1.0), lambda at: float(at["w"].double().square()))
    assert found.reading.value == pytest.approx(-16 / 24 * 23 / 24, rel=1e-5)
    assert found.losses[[0, -1]].tolist() == [1, 9]


def test_a_ridge_between_two_valleys():
    found = barrier(state(1.0, 7.0), state(-1.0, 7.0), lambda at: float((at["w"][0] ** 2 - 1) ** 2))
    assert found.reading.value == pytest.approx(1, rel=1e-6)
    assert found.alpha == 0.5
    assert len(found.alphas) == 25


def test_the_chord_is_taken_off():
    found = barrier(state(1.0), state(0.0), lambda at: 5 + 3 * float(at["w"]))
    assert found.reading.value == pytest.approx(0, abs=1e-6)


def test_whole_numbers_are_not_mixed():
    here, there = {"n": torch.tensor([4])}, {"n": torch.tensor([4])}
    assert barrier(here, there, lambda at: float(at["n"])).reading.value == 0


@torch.no_grad()
def test_a_permuted_copy_has_a_barrier_until_it_is_aligned():
    model = Decoder(DecoderConfig(vocabulary=9, context=6, width=8, layers=1, heads=2, init="pytorch"))
    tokens = torch.arange(6)[None]
    wanted = model(tokens)
    copied = copy.deepcopy(model.state_dict())
    order = torch.randperm(model.config.neurons, generator=torch.Generator().manual_seed(3))
    for name, axis in (("gate", 0), ("up", 0), ("down", 1)):
        key = f"blocks.0.mlp.{name}.weight"
        copied[key] = copied[key].index_select(axis, order)
    probe = copy.deepcopy(model)

    def loss_of(at) -> float:
        probe.load_state_dict(at)
        return float((probe(tokens) - wanted).double().square().mean())

    assert barrier(model.state_dict(), copied, loss_of).reading.value > 1e-4
    found = permutation_alignment(model.state_dict(), copied, model.config, torch.Generator())
    assert barrier(model.state_dict(), found.state, loss_of).reading.value == 0


def test_what_has_no_barrier_says_why():
    found = barrier(state(1.0), state(1.0, 2.0), lambda at: 0.0)
    assert (found.reading.status, math.isnan(found.reading.value)) == ("failed", True)
    assert "shape" in found.reading.reason
    found = barrier(state(1.0), state(0.0), lambda at: math.inf if 0.4 < float(at["w"]) < 0.6 else 0.0)
    assert found.reading.status == "nonfinite"
    assert "5 of 25" in found.reading.reason
    assert np.isinf(found.losses).sum() == 5
