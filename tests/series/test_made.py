"""Checkpoints that a function makes."""

import pickle
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from ontogeny.errors import ForeignCheckpoint, NotARun, OntogenyError
from ontogeny.series import Series


def linear(step: int) -> nn.Linear:
    torch.manual_seed(step)
    return nn.Linear(3, 2)


class Wrapped(nn.Module):
    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module


def test_steps_are_ordered_and_hashed_by_content():
    found = Series.of(linear, [10, 2], name="mine", tokens=5)
    assert [(c.step, c.tokens) for c in found.checkpoints] == [(2, 10.0), (10, 50.0)]
    again = Series.of(lambda step: linear(2), [0, 1], name="same")
    assert found.checkpoints[0].hash == again.checkpoints[0].hash == again.checkpoints[1].hash
    assert found.checkpoints[0].hash != found.checkpoints[1].hash
    assert str(found.home) == "measured/mine"


def test_the_hash_covers_the_configuration():
    def configured(size):
        def load(step):
            model = linear(0)
            model.config = SimpleNamespace(to_dict=lambda: {"size": size})
            return model

        return load

    one, other = (Series.of(configured(size), [0], name="x").checkpoints[0].hash for size in (1, 2))
    assert one != other


def test_wrapped_and_bare_weights_have_one_name():
    bare = Series.of(linear, [0], name="bare").checkpoints[0].weights()
    wrapped = Series.of(lambda step: Wrapped(Wrapped(linear(step))), [0], name="w").checkpoints[0].weights()
    assert set(bare.tensors) == set(wrapped.tensors) == {"weight", "bias"}
    assert bare.hash == wrapped.hash


def test_a_state_dict_needs_its_model():
    load = lambda step: linear(step).state_dict()
    found = Series.of(load, [3], name="x", model=nn.Linear(3, 2)).checkpoints[0]
    assert torch.equal(found.weights().tensors["weight"], linear(3).weight)
    with pytest.raises(ForeignCheckpoint, match=r"no model[\s\S]*model=MODULE"):
        _ = Series.of(load, [3], name="x").checkpoints[0].hash


@pytest.mark.parametrize("given", [None, "path/to/model", 3])
def test_what_is_no_model_is_refused(given):
    with pytest.raises(ForeignCheckpoint, match=type(given).__name__):
        Series.of(lambda step: given, [0], name="x").checkpoints[0].weights()


def test_it_is_made_once_for_its_hash():
    made = []

    def load(step):
        made.append(step)
        return linear(step)

    (one,) = Series.of(load, [4], name="x").checkpoints
    one.made()
    _ = one.hash, one.hash
    assert made == [4]


def test_by_name_and_between_processes():
    found = Series.of("torch.nn:Identity", [1], name="x")
    assert found.checkpoints[0].load is nn.Identity
    found.require_portable()
    assert pickle.loads(pickle.dumps(found)).checkpoints[0].step == 1
    with pytest.raises(OntogenyError, match=r"this process only[\s\S]*module:function"):
        Series.of(lambda step: linear(step), [1], name="x").require_portable()
    for name in ("no.such.module:f", "torch:no_such", "torch", "torch:__version__"):
        with pytest.raises(NotARun, match="names no function"):
            Series.of(name, [1], name="x")


def test_no_steps_and_steps_given_twice_are_refused():
    with pytest.raises(NotARun, match="no steps"):
        Series.of(linear, [], name="x")
    with pytest.raises(NotARun, match="claim to be step 1"):
        Series.of(linear, [1, 2, 1], name="x")


@pytest.mark.parametrize("step", [-1, 1.5, "3", None])
def test_what_is_no_step_is_refused(step):
    with pytest.raises(NotARun, match="no whole number"):
        Series.of(linear, [step], name="x")


def test_one_module_loaded_again_and_again_gives_weights_of_their_own():
    model = nn.Linear(3, 2)

    def load(step):
        model.load_state_dict(linear(step).state_dict())
        return model

    one, two = (c.weights() for c in Series.of(load, [1, 2], name="x").checkpoints)
    assert torch.equal(one.tensors["weight"], linear(1).weight)
    assert torch.equal(two.tensors["weight"], linear(2).weight)
