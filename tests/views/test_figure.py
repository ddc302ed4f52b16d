import json
import math

import pytest

from ontogeny.errors import BadContract
from ontogeny.views.figure import Column, Figure, Heat, Line, Panel, Rail, Table, plain


def test_unequal_columns_are_refused():
    for make in (
        lambda: Line("a", (1.0, 2.0), (1.0,)),
        lambda: Rail("missing", (1.0,), (1, 2), "x"),
        lambda: Heat("a", ("0", "1"), ("0",), ((1.0,),), 0.0, 1.0),
        lambda: Table((Column("a"),), (("x", "y"),)),
    ):
        with pytest.raises(BadContract, match="unequal length"):
            make()


def test_an_unknown_scale_is_refused():
    with pytest.raises(Exception, match="cube"):
        Panel("a", (), x_scale="cube")


def test_plain_is_strict_json_and_keeps_missing_apart_from_nonfinite():
    heat = Heat("a", (0.0, 1.0, 2.0), ("0",), ((None, math.nan, -math.inf),), 0.0, 1.0)
    found = plain(Figure("f", (Panel("p", (heat,)),)))
    json.dumps(found, allow_nan=False)
    mark = found["panels"][0]["marks"][0]
    assert mark["mark"] == "Heat"
    assert mark["values"] == [[None, "NaN", "-Infinity"]]


def test_a_figure_knows_its_table():
    table = Table((Column("a"),), (("x",),))
    assert Figure("f", (Panel("p", (table,)),)).table is table
    assert Figure("f", (Panel("p", ()),)).table is None
