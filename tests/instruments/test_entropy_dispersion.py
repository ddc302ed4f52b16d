"""HEA-07, its second diagnostic."""

import numpy as np
import pytest

from ontogeny.catalogue import measuring_part
from ontogeny.testing import check_summary, course_of, rows_said


def said(entropies, axes=("layer", "head")) -> dict[tuple[int, str, object], dict]:
    """Rows by step, component and layer."""
    steps = range(len(entropies))
    given = {"attention_entropy": course_of("attention_entropy", entropies, steps, axes)}
    rows = rows_said(measuring_part("entropy_dispersion"), given)
    return {(row["step"], row["component"], row.get("layer")): row for row in rows}


def test_duplicated_heads_do_not_differ():
    rows = said(np.full((2, 3, 4), 1.7))
    assert {row["value"] for row in rows.values()} == {0}
    assert len(rows) == 2 * (1 + 3)


def test_within_layers_and_between_them():
    rows = said([[[0.0, 2.0], [0.0, 2.0]], [[0.0, 0.0], [2.0, 2.0]]])
    assert rows[0, "", None]["value"] == rows[0, "within_layer", 0]["value"] == 1
    assert rows[1, "", None]["value"] == 1
    assert rows[1, "within_layer", 0]["value"] == rows[1, "within_layer", 1]["value"] == 0
    assert (rows[0, "", None]["n"], rows[0, "within_layer", 1]["n"]) == (4, 2)


def test_neither_the_order_of_heads_nor_a_common_shift_matters():
    entropies = np.random.default_rng(0).uniform(0, 4, (1, 3, 5))
    plain = said(entropies)[0, "", None]["value"]
    assert plain == pytest.approx(float(entropies.std()))
    assert said(entropies[:, ::-1, ::-1] + 1.5)[0, "", None]["value"] == pytest.approx(plain)


def test_a_single_number_has_no_deviation():
    rows = said([[[1.0, np.nan], [1.0, 3.0]]])
    assert rows[0, "within_layer", 0]["status"] == "n-too-small"
    assert rows[0, "", None]["n"] == 3
    assert rows[0, "within_layer", 1]["value"] == 1


def test_layers_that_are_run_several_times_are_one_layer():
    entropies = np.zeros((1, 2, 2, 3))
    entropies[:, :, 1] = 2.0
    rows = said(entropies, ("layer", "loop", "head"))
    assert rows[0, "within_layer", 1]["value"] == 1
    assert rows[0, "within_layer", 1]["n"] == 6


def test_it_keeps_the_contract():
    check_summary(measuring_part("entropy_dispersion"))
