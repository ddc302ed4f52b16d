import numpy as np
import pandas as pd
import pytest

from ontogeny.views import learning_curve
from ontogeny.views.figure import Line, Points, Rail, Rule, Text, Ticks


@pytest.fixture(scope="module")
def figure(made_up):
    return learning_curve(made_up.telemetry(), made_up.rows(), made_up.transitions())


def marks(figure, kind):
    return [mark for mark in figure.panels[0].marks if isinstance(mark, kind)]


def test_the_band_holds_every_finite_loss_in_few_buckets(figure, made_up):
    (line,) = marks(figure, Line)
    loss = made_up.telemetry()["loss"].dropna()
    assert len(line.x) <= 300
    assert np.nanmin(line.low) == loss.min()
    assert np.nanmax(line.high) == loss.max()


def test_the_nan_loss_is_marked_where_it_was(figure):
    (rail,) = marks(figure, Rail)
    assert rail.kind == "nonfinite"
    assert rail.count == (1,)
    assert rail.x[0] == pytest.approx(1700, abs=16)
    assert "1 non-finite" in figure.note


def test_one_rule_a_part_at_its_largest_change(figure):
    assert [(rule.x, rule.low, rule.high, rule.label) for rule in marks(figure, Rule)] == [
        (385.0, 330.0, 430.0, "previous token attention L0 H1"),
        (645.0, 560.0, 730.0, "induction attention L1 H2"),
    ]


def test_checkpoints_and_heldout_loss_are_there(figure, made_up):
    (ticks,), (points,) = marks(figure, Ticks), marks(figure, Points)
    assert ticks.x == tuple(map(float, made_up.checkpoint_steps()))
    assert len(points.x) == 42


def test_what_a_later_attempt_replaced_stays_visible():
    first = pd.DataFrame({"step": range(1, 11), "attempt": 0, "loss": 5.0})
    second = pd.DataFrame({"step": range(6, 16), "attempt": 1, "loss": 3.0})
    figure = learning_curve(pd.concat([first, second]), pd.DataFrame(), pd.DataFrame())
    now, before = marks(figure, Line)
    assert (now.y[4], now.y[5], before.role, before.x[0]) == (5.0, 3.0, "superseded", 6.0)
    assert "5 steps replaced by a later attempt" in figure.note


def test_a_loss_over_many_decades_gets_a_log_axis():
    table = pd.DataFrame({"step": [1, 2, 3], "loss": [1e4, 2.0, 1.0]})
    assert learning_curve(table, pd.DataFrame(), pd.DataFrame()).panels[0].y_scale == "log"


def test_an_infinite_heldout_loss_is_marked():
    table = pd.DataFrame({
        "step": [1, 2, 2], "applied": [True, True, None], "loss": [2.0, 1.0, np.nan],
        "heldout_loss": [np.nan, np.nan, np.inf],
    })  # fmt: skip
    (rail,) = marks(learning_curve(table, pd.DataFrame(), pd.DataFrame()), Rail)
    assert (rail.x, rail.label) == ((2.0,), "infinite held out")


def test_without_a_loss_it_says_so():
    (panel,) = learning_curve(pd.DataFrame(), pd.DataFrame(), pd.DataFrame()).panels
    assert panel.marks == (Text("no finite training loss was recorded"),)
