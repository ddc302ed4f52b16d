import math

import numpy as np
import pandas as pd

from ontogeny.views import head_grid
from ontogeny.views.figure import Text


def test_the_scale_is_fixed_over_all_steps(made_up):
    figure = head_grid(made_up.rows(), made_up.transitions(), part="induction_attention")
    heats = [panel.marks[0] for panel in figure.panels]
    assert {(heat.low, heat.high) for heat in heats} == {(0.0, 1.0)}
    assert len(heats) == 8
    assert figure.panels[0].title == "step 0"
    assert figure.panels[-1].title == "step 4,000"


def test_steps_on_both_sides_of_the_transition_are_shown(made_up):
    figure = head_grid(made_up.rows(), made_up.transitions(), part="induction_attention")
    shown = {int(panel.title.split()[1].replace(",", "")) for panel in figure.panels}
    steps = made_up.checkpoint_steps()
    assert max(step for step in steps if step <= 645) in shown
    assert min(step for step in steps if step >= 645) in shown


def test_cells_are_the_rows_of_their_step(made_up):
    rows = made_up.rows()
    figure = head_grid(rows, made_up.transitions(), part="induction_attention", steps=[4000])
    heat = figure.panels[0].marks[0]
    chosen = rows[(rows["part"] == "induction_attention") & (rows["step"] == 4000) & rows["head"].notna()]
    for _, row in chosen.iterrows():
        assert heat.values[row["layer"]][row["head"]] == row["value"]


def test_missing_is_none_and_nonfinite_is_nan():
    table = pd.DataFrame({
        "part": "a", "component": "", "step": 0, "layer": [0, 0, 1], "head": [0, 1, 0],
        "value": [0.5, np.nan, np.nan], "status": ["ok", "nonfinite", "no-target"],
    })  # fmt: skip
    ((first, second), (third, fourth)) = head_grid(table, pd.DataFrame(), part="a").panels[0].marks[0].values
    assert (first, third, fourth) == (0.5, None, None)
    assert math.isnan(second)


def test_nothing_to_show_is_said():
    (panel,) = head_grid(pd.DataFrame(), pd.DataFrame()).panels
    assert isinstance(panel.marks[0], Text)
