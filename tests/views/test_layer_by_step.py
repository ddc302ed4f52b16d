import numpy as np
import pandas as pd

from ontogeny.views import layer_by_step
from ontogeny.views.figure import Heat, Rule


def table(values, **more) -> pd.DataFrame:
    layers = len(values) // 2
    return pd.DataFrame({
        "part": "residual_norm", "component": "", "step": [0, 100] * layers,
        "layer": np.repeat(range(layers), 2), "value": values, **more,
    })  # fmt: skip


def heat_of(figure) -> Heat:
    return next(mark for mark in figure.panels[0].marks if isinstance(mark, Heat))


def test_rows_are_layers_and_columns_steps():
    heat = heat_of(layer_by_step(table([1.0, 2.0, 3.0, 5.0]), pd.DataFrame()))
    assert (heat.x, heat.y, heat.values) == ((0.0, 100.0), ("0", "1"), ((1.0, 2.0), (3.0, 5.0)))
    assert (heat.low, heat.high, heat.colours) == (0.0, 5.0, "sequential")


def test_both_signs_are_centred_at_zero():
    heat = heat_of(layer_by_step(table([-1.0, 2.0]), pd.DataFrame()))
    assert (heat.low, heat.high, heat.colours) == (-2.0, 2.0, "diverging")


def test_heavy_tails_get_a_logarithmic_scale():
    heat = heat_of(layer_by_step(table([1.0, 5000.0]), pd.DataFrame()))
    assert (heat.low, heat.high, heat.scale) == (1.0, 5000.0, "log")


def test_numbers_of_heads_or_matrices_are_not_numbers_of_layers(made_up):
    figure = layer_by_step(made_up.rows(), made_up.transitions())
    assert [panel.title for panel in figure.panels] == [
        "effective rank",
        "participation ratio",
        "residual norm",
        "token similarity",
    ]


def test_an_undefined_cell_is_none_and_said(made_up):
    figure = layer_by_step(made_up.rows(), made_up.transitions(), parts=["participation_ratio"])
    assert heat_of(figure).values[2][0] is None
    assert "Hatched" in figure.note


def test_loops_are_rows_of_their_own():
    heat = heat_of(layer_by_step(table([1.0, 2.0, 3.0, 4.0], loop=[0, 0, 1, 1]), pd.DataFrame()))
    assert heat.y == ("0 loop 0", "1 loop 1")


def test_only_claims_about_layers_become_rules():
    found = pd.DataFrame({
        "part": "residual_norm", "verdict": "transition", "step": [50.0, 60.0], "size": [1.0, 9.0],
        "layer": [0, 0], "head": [None, 3],
    })  # fmt: skip
    panel = layer_by_step(table([1.0, 2.0]), found).panels[0]
    assert [mark.x for mark in panel.marks if isinstance(mark, Rule)] == [50.0]
