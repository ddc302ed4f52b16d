"""From what a part returned to rows."""

import math
from dataclasses import replace

import pytest
import torch

from ontogeny.catalogue import part
from ontogeny.errors import BadContract
from ontogeny.measure.reading_rows import null_row, reading_rows
from ontogeny.vocabulary import Place, Reading, Status, named_readings, undefined

SCALAR, HEADS = part("instrument", "residual_norm"), part("instrument", "induction")


def rows(made, reading) -> list[dict]:
    return list(reading_rows(made, "", Place(layer=3), reading))


def test_a_number_is_one_row_at_its_place():
    (row,) = rows(SCALAR, Reading(torch.tensor(2.5), n=7, low=2.0, high=torch.tensor(3.0)))
    numbers = {"value": 2.5, "low": 2.0, "high": 3.0, "n": 7}
    assert row == {"component": "", "layer": 3, **numbers, "status": "ok", "reason": ""}


def test_a_vector_is_one_row_an_element_with_its_own_n():
    found = rows(
        HEADS, Reading(torch.tensor([1.0, math.nan, math.inf]), n=torch.tensor([4, 5, 6]), reason="why")
    )
    assert [(row["layer"], row["head"], row["n"]) for row in found] == [(3, 0, 4), (3, 1, 5), (3, 2, 6)]
    assert [row["status"] for row in found] == ["ok", "nonfinite", "nonfinite"]
    assert [row["value"] for row in found] == [1.0, None, None]
    assert [row["reason"] for row in found] == ["", "why", "why"]


def test_each_element_may_have_its_own_status():
    statuses = (Status.OK, Status.TOO_SHORT, Status.UNCONVERGED)
    found = rows(HEADS, Reading(torch.tensor([1.0, math.nan, math.nan]), status=statuses))
    assert [row["status"] for row in found] == ["ok", "too-short", "unconverged"]


def test_nothing_is_ok_without_a_value():
    (row,) = rows(SCALAR, Reading(math.nan, status=Status.OK))
    assert row["status"] == "nonfinite"
    assert row["reason"] == "the value is nan"


def test_an_undefined_reading_of_a_part_with_axes_is_one_row():
    (row,) = rows(HEADS, undefined(Status.NO_TARGET, "no aim", n=0))
    assert (row["status"], row["reason"], row["n"], row["value"]) == ("no-target", "no aim", 0, None)
    assert "head" not in row


@pytest.mark.parametrize(
    ("made", "reading"),
    [
        (SCALAR, Reading(torch.zeros(3))),
        (HEADS, Reading(torch.zeros(2, 3))),
        (HEADS, Reading(torch.zeros(3), status=(Status.OK, Status.OK))),
        (replace(HEADS, axes=("head", "position")), Reading(torch.zeros(3))),
    ],
)
def test_what_does_not_keep_the_declared_shape_is_refused(made, reading):
    with pytest.raises(BadContract):
        rows(made, reading)


def test_names_of_what_is_returned():
    assert list(named_readings(torch.tensor(1.0))) == [""]
    named = named_readings({"": 1.0, "first": Reading(2.0)})
    assert named["first"].value == 2.0
    assert isinstance(named[""], Reading)


def test_a_null_is_its_99th_percentile_over_draws_of_the_best_head():
    draws = torch.stack([torch.arange(199.0), torch.zeros(199)], 1)
    row, arrays = null_row(HEADS, Place(layer=1), draws)
    assert row["component"] == "null:shuffled_lag"
    assert row["value"] == pytest.approx(0.99 * 198)
    assert (row["n"], row["status"]) == (199, "ok")
    assert torch.equal(arrays[row["array"]], draws)


def test_a_head_without_a_null_does_not_hide_the_others():
    draws = torch.ones(50, 2)
    draws[:, 1] = math.nan
    row, arrays = null_row(HEADS, Place(), draws)
    assert (row["value"], row["status"]) == (1, "ok")
    assert arrays[row["array"]].isnan().any(), "the draws are kept as they are"
    row, _ = null_row(HEADS, Place(), draws * math.nan)
    assert (row["value"], row["status"]) == (None, "nonfinite")
