"""What it costs to look at many parts: families, places, ties, and what has no p."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import false_discovery_control

from ontogeny.detect.correction import q_values
from ontogeny.errors import BadArgument


def table(*rows: tuple[str, str, float | None]) -> pd.DataFrame:
    found = pd.DataFrame(rows, columns=["part", "stimulus_name", "p"]).assign(component="")
    return found.astype({"p": "float64"})


def test_one_part_pays_nothing_more():
    """Its places were paid for in p already."""
    np.testing.assert_array_equal(q_values(table(("a", "x", 0.01), ("a", "x", 0.4))), [0.01, 0.4])


def test_parts_and_stimuli_are_the_tests_and_places_are_not():
    rows = [("a", "x", 0.01), ("b", "x", 0.04), ("b", "y", 0.03), ("a", "x", 0.9), ("a", "x", 0.9)]
    np.testing.assert_allclose(q_values(table(*rows))[:3], [0.03, 0.04, 0.04])
    np.testing.assert_allclose(q_values(table(*rows))[:3], false_discovery_control([0.01, 0.04, 0.03]))


def test_another_place_has_the_q_its_part_would_have_if_it_were_best():
    rows = table(("a", "x", 0.01), ("a", "x", 0.05), ("b", "x", 0.02))
    expected = false_discovery_control([0.05, 0.02])[0]
    assert q_values(rows)[1] == pytest.approx(expected)
    assert q_values(rows)[1] >= q_values(rows)[0]


def test_what_has_no_p_is_not_counted():
    q = q_values(table(("a", "x", 0.01), ("b", "x", None), ("c", "x", None)))
    assert q[0] == 0.01
    assert np.isnan(q[1:]).all()
    assert np.isnan(q_values(table(("a", "x", None)))).all()
    assert q_values(table()).shape == (0,)


def test_by_asks_for_more_by_the_harmonic_sum():
    rows = table(("a", "x", 0.001), ("b", "x", 0.002), ("c", "x", 0.003))
    np.testing.assert_allclose(q_values(rows, "by"), q_values(rows, "bh") * (1 + 1 / 2 + 1 / 3))


def test_another_correction_is_refused():
    with pytest.raises(BadArgument, match="bh, by"):
        q_values(table(("a", "x", 0.01)), "bonferroni")
