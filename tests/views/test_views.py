"""What holds for every view: the catalogue knows it, empty tables are no error, the result is plain JSON."""

import json

import pandas as pd
import pytest

from ontogeny import views
from ontogeny.catalogue.part import _PARTS
from ontogeny.views.figure import Figure

OURS = {name: _PARTS["view"][name] for name in views.__all__}


@pytest.mark.parametrize("name", views.__all__)
def test_empty_tables_give_a_figure(name):
    empty = {need: () if need == "samples" else pd.DataFrame() for need in OURS[name].needs}
    figure = OURS[name].make(**empty)
    assert isinstance(figure, Figure)
    json.dumps(figure.plain(), allow_nan=False)


@pytest.mark.parametrize("name", views.__all__)
def test_a_figure_is_plain_json_and_the_tables_are_left_alone(name, made_up):
    tables = {need: getattr(made_up, need)() for need in OURS[name].needs}
    before = {need: table.copy() for need, table in tables.items()}
    figure = OURS[name].make(**tables)
    json.dumps(figure.plain(), allow_nan=False)
    assert figure == OURS[name].make(**tables)
    for need, table in tables.items():
        assert table.equals(before[need]) if need != "samples" else table == before[need]
