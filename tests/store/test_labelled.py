"""Rows as labelled arrays."""

import numpy as np
import pandas as pd
import pytest

from ontogeny.errors import UnknownName
from ontogeny.store.labelled import labelled
from ontogeny.vocabulary import AXES


def table(*rows: dict) -> pd.DataFrame:
    """As `read_rows` gives it: every axis there, integers nullable."""
    frame = pd.DataFrame(
        [
            {
                "component": "",
                "stimulus_name": "heldout",
                "settings": "",
                "place_to": "",
                "step": 0,
                "value": 1.0,
            }
            | row
            for row in rows
        ]
    )
    for axis, kind in AXES.items():
        if axis not in frame:
            frame[axis] = pd.NA if kind is int else ""
        frame[axis] = frame[axis].astype("Int64") if kind is int else frame[axis].replace("", None)
    return frame


def test_axes_are_those_that_are_there_in_their_own_order():
    rows = [
        {"step": step, "head": head, "layer": layer, "value": 100.0 * step + 10 * layer + head}
        for step in (0, 4)
        for head in (1, 0)
        for layer in (0, 1)
    ]
    found = labelled(table(*rows), "x")
    assert found.dims == ("step", "layer", "head")
    assert found.coords["layer"].dtype.kind == "i"
    assert float(found.sel(step=4, layer=1, head=0)) == 410
    assert found.attrs == {"component": "", "stimulus": "heldout", "settings": ""}


def test_a_number_of_the_whole_model_is_a_series():
    found = labelled(table({"step": 0, "value": 4.0}, {"step": 2, "value": 3.0}), "x")
    assert found.dims == ("step",)
    assert found.values.tolist() == [4.0, 3.0]


def test_what_is_undefined_or_missing_is_nan():
    found = labelled(table({"layer": 0, "value": None}, {"layer": 1}, {"layer": 1, "step": 2}), "x")
    assert np.isnan(found.sel(step=0, layer=0))
    assert np.isnan(found.sel(step=2, layer=0))
    assert float(found.sel(step=2, layer=1)) == 1
    assert found.dtype == np.float64


def test_a_status_of_the_whole_stimulus_does_not_take_the_axes_away():
    rows = [{"value": None}, {"layer": 0, "step": 2}, {"layer": 1, "step": 2}]
    found = labelled(table(*rows), "x")
    assert found.dims == ("step", "layer")
    assert found.sel(step=2).values.tolist() == [1, 1]


def test_nothing_but_a_status_is_a_series_of_nan():
    found = labelled(table({"value": None}, {"value": None, "step": 3}), "x")
    assert found.dims == ("step",)
    assert np.isnan(found).all()


def test_one_stimulus_is_chosen_and_weights_come_last():
    rows = [
        {"stimulus_name": "", "layer": 0, "matrix": "query", "value": 5.0},
        {"stimulus_name": "heldout", "layer": 0, "value": 6.0},
        {"stimulus_name": "repeated_tokens", "layer": 0, "value": 7.0},
    ]
    assert float(labelled(table(*rows), "x").squeeze()) == 6
    assert float(labelled(table(*rows), "x", stimulus="repeated_tokens").squeeze()) == 7
    weights = labelled(table(*rows), "x", stimulus="")
    assert weights.dims == ("step", "layer", "matrix")
    assert float(weights.sel(matrix="query").squeeze()) == 5
    with pytest.raises(UnknownName, match="did you mean 'heldout'"):
        labelled(table(*rows), "x", stimulus="held_out")


def test_components_are_told_apart():
    rows = [{"layer": 0}, {"layer": 0, "component": "biased", "value": 9.0}]
    assert float(labelled(table(*rows), "x", "biased").squeeze()) == 9
    with pytest.raises(UnknownName, match="did you mean 'biased'"):
        labelled(table(*rows), "x", "biassed")


def test_the_last_of_several_definitions_is_read():
    assert float(labelled(table({"layer": 0}, {"layer": 0, "value": 2.0}), "x").squeeze()) == 2


def test_runs_are_an_axis():
    rows = [
        {"run": name, "layer": 0, "step": step}
        for name, steps in (("a", (0, 1)), ("b", (0, 2)))
        for step in steps
    ]
    found = labelled(table(*rows), "x", run=True)
    assert found.dims == ("run", "step", "layer")
    assert found.sel(run="b", layer=0).isnull().values.tolist() == [False, True, False]


def test_the_second_of_two_places_is_an_axis_of_its_own():
    rows = [
        {"step": step, "layer": layer, "place_to": f"layer {other}", "value": 10 * layer + other + step / 10}
        for step in (0, 1)
        for layer, other in ((0, 1), (0, 2), (1, 2))
    ]
    array = labelled(table(*rows), "proof")
    assert array.dims == ("step", "layer", "place_to")
    assert array.sel(step=1, layer=1, place_to="layer 2") == pytest.approx(12.1)
    assert np.isnan(array.sel(step=1, layer=1, place_to="layer 1"))
