"""HEA-05, its summary."""

import numpy as np
import pytest

from ontogeny.catalogue import measuring_part
from ontogeny.testing import check_summary, course_of, rows_said

STEPS = (0, 10)
AXES = ("layer", "head")


def said(masses, entropies, **parameters) -> dict[tuple[int, str], dict]:
    """Rows by step and component."""
    given = {
        "sink_mass": course_of("sink_mass", masses, STEPS, AXES, component="early"),
        "attention_entropy": course_of("attention_entropy", entropies, STEPS, AXES),
    }
    made = measuring_part("sink_rate")
    if parameters:
        return {(one.step, one.component): one.reading for one in made.make(*given.values(), **parameters)}
    return {(row["step"], row["component"]): row for row in rows_said(made, given)}


def test_the_classes_of_a_known_model():
    """BLOOM-1b7: 242 healthy, 136 sink, 3 dead, 3 low-entropy heads of 384."""
    masses = np.array([0.2] * 242 + [0.7] * 136 + [0.99] * 3 + [0.4] * 3).reshape(24, 16)
    entropies = np.array([2.0] * 242 + [0.3] * 139 + [0.1] * 3).reshape(24, 16)
    rows = said(np.stack([masses, masses[::-1]]), np.stack([entropies, entropies[::-1]]))
    for step in STEPS:
        counts = [rows[step, name]["value"] for name in ("healthy", "sink", "dead", "low_entropy")]
        assert counts == [242, 136, 3, 3]
        assert rows[step, ""]["value"] == pytest.approx((136 + 3 + 3) / 384)
        assert rows[step, ""]["n"] == rows[step, "dead"]["n"] == 384


def test_all_on_the_first_key_and_uniform_attention():
    rows = said(np.stack([np.ones((2, 3)), np.full((2, 3), 0.0741)]), np.full((2, 2, 3), 3.2))
    assert (rows[0, ""]["value"], rows[0, "dead"]["value"], rows[0, "healthy"]["value"]) == (1, 6, 0)
    assert (rows[10, ""]["value"], rows[10, "dead"]["value"], rows[10, "healthy"]["value"]) == (0, 0, 6)


def test_bounds_belong_to_the_lower_class():
    masses = np.array([[[0.3, 0.5, 0.95, 0.9501]]] * 2)
    entropies = np.array([[[0.5, 0.4999, 0.0, 0.0]]] * 2)
    rows = said(masses, entropies)
    assert rows[0, ""]["value"] == 0.75, "0.3 is not above 0.3"
    assert [rows[0, n]["value"] for n in ("healthy", "low_entropy", "sink", "dead")] == [1, 1, 1, 1]


def test_another_threshold():
    masses = np.array([[[0.1, 0.2, 0.6]]] * 2)
    assert said(masses, masses * 0 + 2, epsilon=0.15)[0, ""].value == pytest.approx(2 / 3)


def test_heads_that_are_not_numbers_are_left_out_and_counted():
    masses = np.array([[[np.nan, 0.4, 0.6, 0.1]], [[np.nan] * 4]])
    entropies = np.array([[[1.0, 2.0, np.nan, np.nan]], [[1.0] * 4]])
    rows = said(masses, entropies)
    assert (rows[0, ""]["value"], rows[0, ""]["n"]) == (pytest.approx(2 / 3), 3)
    assert [rows[0, n]["value"] for n in ("healthy", "sink", "dead", "low_entropy")] == [1, 1, 0, 0]
    assert rows[0, "healthy"]["n"] == 2, "a head of unknown entropy is healthy or low-entropy"
    assert rows[10, ""]["status"] == "nonfinite"
    assert "no head's" in rows[10, ""]["reason"]


def test_it_keeps_the_contract():
    check_summary(measuring_part("sink_rate"))
