import numpy as np
import pandas as pd
import pytest

from ontogeny.views import head_timeline
from ontogeny.views.figure import Line, Rail, Rule


@pytest.fixture(scope="module")
def panels(made_up):
    figure = head_timeline(made_up.rows(), made_up.transitions())
    return {panel.title: panel for panel in figure.panels}


def lines(panel, role):
    return [mark for mark in panel.marks if isinstance(mark, Line) and mark.role == role]


def test_the_note_counts_heads_not_nulls(made_up):
    assert head_timeline(made_up.rows(), made_up.transitions()).note.startswith("8 heads, 43 checkpoints")


def test_heads_with_a_claim_are_named_largest_first(panels):
    panel = panels["induction attention"]
    assert [line.label for line in lines(panel, "named")] == ["L1 H2", "L1 H3"]
    assert len(lines(panel, "quiet")) == 6
    assert [(mark.x, mark.hue) for mark in panel.marks if isinstance(mark, Rule)] == [(645.0, 0), (910.0, 1)]


def test_a_named_heads_line_is_its_rows(panels, made_up):
    rows = made_up.rows()
    chosen = rows[(rows["part"] == "induction_attention") & (rows["layer"] == 1) & (rows["head"] == 2)]
    assert lines(panels["induction attention"], "named")[0].y == tuple(chosen.sort_values("step")["value"])


def test_the_null_reaches_from_zero_to_its_largest_over_layers(panels, made_up):
    rows = made_up.rows()
    edge = rows[rows["component"] == "null:shuffled_lag"].groupby("step")["value"].max()
    (band,) = lines(panels["induction attention"], "null")
    assert band.high == tuple(edge)
    assert set(band.low) == {0.0}


def test_without_a_claim_only_the_head_that_ends_highest_is_named(panels, made_up):
    rows = made_up.rows()
    last = rows[(rows["part"] == "first_token_attention") & (rows["step"] == made_up.LAST)]
    best = last.loc[last["value"].idxmax()]
    panel = panels["first token attention"]
    assert [line.label for line in lines(panel, "named")] == [f"L{best['layer']} H{best['head']}"]
    assert not [mark for mark in panel.marks if isinstance(mark, Rule)]


def test_many_heads_become_bands():
    random = np.random.default_rng(0)
    table = pd.DataFrame(
        [
            {
                "part": "a",
                "component": "",
                "step": step,
                "layer": layer,
                "head": head,
                "value": random.random(),
            }
            for step in (0, 1)
            for layer in range(6)
            for head in range(8)
        ]
    )
    (panel,) = head_timeline(table, pd.DataFrame()).panels
    quiet = lines(panel, "quiet")
    assert len(quiet) == 2
    assert "of 47 further heads" in quiet[0].label


def test_undefined_scores_are_on_the_rail():
    table = pd.DataFrame({
        "part": "a", "component": "", "step": [0, 0, 1], "layer": 0, "head": [0, 1, 0],
        "value": [np.nan, np.nan, 0.5], "status": ["no-target", "nonfinite", "ok"],
    })  # fmt: skip
    (panel,) = head_timeline(table, pd.DataFrame()).panels
    assert [(m.kind, m.x, m.count) for m in panel.marks if isinstance(m, Rail)] == [
        ("nonfinite", (0.0,), (1,)),
        ("missing", (0.0,), (1,)),
    ]


def test_without_heads_it_says_so():
    (panel,) = head_timeline(pd.DataFrame(), pd.DataFrame()).panels
    assert "no part that scores single heads" in panel.marks[0].text
