"""The nouns: places, schedules, windows, losses, states, and errors that say what to do."""

import math

import pytest
import torch

from ontogeny.errors import BadContract, OntogenyError, UnknownName
from ontogeny.vocabulary import (
    AXES,
    Counters,
    Draw,
    Losses,
    Place,
    Scheduled,
    Status,
    TrainingState,
    Window,
    register_axis,
    undefined,
)


def test_a_place_has_registered_axes_in_their_own_order():
    place = Place(head=2, layer=3)
    assert list(place.items()) == [("layer", 3), ("head", 2)]
    assert str(place) == "layer 3 head 2"
    assert place == Place(layer=3).at(head=2)
    assert hash(place) == hash(Place(layer=3, head=2))
    assert str(Place()) == "whole model"
    with pytest.raises(UnknownName, match="did you mean 'layer'"):
        Place(layr=1)


def test_an_axis_is_registered_once_with_one_type():
    register_axis("layer", int)
    with pytest.raises(BadContract, match="already registered"):
        register_axis("layer", str)
    with pytest.raises(BadContract, match="unusable type"):
        register_axis("colour", float)
    assert "colour" not in AXES


@pytest.mark.parametrize(
    ("schedule", "steps"),
    [
        (Scheduled(10, every=4, dense_until=4), [0, 1, 2, 4, 8, 10]),
        (Scheduled(1000, every=100), [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 700, 800, 900, 1000]),
        (Scheduled(3), [0, 1, 2, 3]),
        (Scheduled(0), [0]),
        (Scheduled(9, explicit=(2, 5, 99)), [2, 5, 9]),
        (Scheduled.of([4, 2]), [2, 4]),
    ],
)
def test_powers_of_two_then_evenly_and_always_the_last(schedule, steps):
    assert schedule.steps() == steps
    assert [step for step in range(1100) if step in schedule] == steps


def test_a_window_is_half_open():
    assert [step for step in range(6) if step in Window(2, 4)] == [2, 3]
    assert 10**9 in Window(5)
    assert 0 not in Window(0, 0)
    with pytest.raises(BadContract, match="ends before it starts"):
        Window(4, 2)


def test_losses_are_weighted_means_and_nan_where_nothing_counts():
    values = torch.tensor([1.0, 2.0, 6.0])
    assert Losses(values, torch.tensor([1.0, 1.0, 0.0])).mean().item() == 1.5
    assert math.isnan(Losses(values, torch.zeros(3)).mean().item())
    assert Losses(values, torch.ones(3)).total_weight.item() == 3


def test_a_state_refuses_what_cannot_be_saved():
    state = TrainingState(counters=Counters(step=3))
    with pytest.raises(BadContract, match="cannot be saved"):
        state["note"] = object()
    assert list(state) == ["counters"]
    del state["counters"]
    assert len(state) == 0


def test_counters_survive_saving():
    counters = Counters(step=3, tokens=40)
    other = Counters()
    other.load_state_dict(counters.state_dict())
    assert other == counters


def test_undefined_is_never_zero():
    reading = undefined(Status.NO_TARGET, "nothing to predict", n=0)
    assert math.isnan(reading.value)
    assert (reading.status, reading.reason, reading.n) == (Status.NO_TARGET, "nothing to predict", 0)


def test_a_draw_is_known_by_its_items():
    assert Draw(torch.tensor([1, 2])).identity == Draw(torch.tensor([1, 2])).identity
    assert Draw(torch.tensor([1, 2])).identity != Draw(torch.tensor([2, 1])).identity


def test_an_error_says_what_was_wrong_received_allowed_and_to_do():
    error = OntogenyError("a thing is wrong", received=3, allowed="1 or 2", remedy="choose one of them")
    assert str(error).splitlines() == [
        "a thing is wrong",
        "  received: 3",
        "  allowed:  1 or 2",
        "  to do:    choose one of them",
    ]
    assert str(OntogenyError("alone")) == "alone"
    unknown = str(UnknownName("recipe", "lettres", ["letters", "grokking"]))
    assert "did you mean 'letters'" in unknown
    assert "grokking, letters" in unknown
    assert "choose one of the list" in str(UnknownName("recipe", "zzz", ["letters"]))
