"""Pythia's late loss on LAMBADA: in the two smallest models, and in none of the six larger."""

import numpy as np
import pytest


@pytest.fixture(scope="module")
def study_of(study):
    return study("declines")


@pytest.fixture(scope="module")
def found(study_of, shared_data):
    return {one.model: one for one in study_of.declines(shared_data)}


def test_the_two_smallest_decline_and_no_larger_one_does(found):
    """Against rises that never fall, with the noise of the items; after correction for eight."""
    assert {model for model, one in found.items() if one.shown} == {"70m", "160m"}
    for model, one in found.items():
        assert (one.found.p <= 0.05 / len(found)) == (model in ("70m", "160m"))


def test_the_decline_is_late_and_of_several_points(found):
    for model, highest in (("70m", 53_000), ("160m", 63_000)):
        one = found[model]
        assert one.steps[one.values.argmax()] == highest
        assert 40_000 <= one.placed.step <= 100_000, "a broad top"
        assert one.placed.kind == "peak"
        assert one.placed.size > 0.03


def test_the_larger_ones_end_higher_than_the_smaller_ones_ever_were(found):
    ends = [one.values[-1] for one in found.values()]
    assert ends == sorted(ends)


def test_other_data_and_other_prompts_show_it_in_the_same_models(study_of, shared_data):
    shown = {one.model for one in study_of.confirmed(shared_data) if one.shown}
    small = {"70m-deduped/zero-shot", "160m-deduped/zero-shot", "70m/five-shot", "160m/five-shot"}
    assert shown == small


def test_the_null_of_items_never_falls_but_by_its_noise(study_of):
    steps, values = np.arange(1, 28), np.r_[np.linspace(0, 0.25, 20), np.linspace(0.24, 0.18, 7)]
    draws = study_of.never_falling(steps, values, np.full(27, 0.005))
    centre = draws.mean(0)
    assert (np.diff(centre) > -0.002).all()
    assert draws.std(0) == pytest.approx(0.005, rel=0.15)
