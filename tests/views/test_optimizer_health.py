import numpy as np
import pandas as pd

from ontogeny.views import optimizer_health
from ontogeny.views.figure import Line, Rail


def test_four_panels_with_their_marks(made_up):
    telemetry = made_up.telemetry()
    figure = optimizer_health(telemetry)
    assert [panel.title for panel in figure.panels] == [
        "Gradient norm",
        "Clip coefficient",
        "Update ratio",
        "Learning rate",
    ]
    gradient, clip, update, rate = figure.panels
    assert (gradient.y_scale, clip.y_range, rate.y_scale) == ("log", (0.0, 1.05), "linear")
    assert [mark.kind for mark in update.marks if isinstance(mark, Rail)] == ["skipped"]
    used = telemetry["clip_coefficient"].dropna()
    assert f"clipped at {(used < 1).sum():,} of 3,999 steps" in figure.note
    assert "1 update skipped" in figure.note


def test_the_grey_band_spans_the_matrices(made_up):
    telemetry = made_up.telemetry(last=200, nan_at=None)
    band = optimizer_health(telemetry).panels[0].marks[0]
    assert isinstance(band, Line)
    assert band.role == "null"
    each = telemetry.filter(like="gradient_norm/")
    assert (min(band.low), max(band.high)) == (each.min().min(), each.max().max())


def test_a_zero_keeps_the_axis_linear():
    table = pd.DataFrame({"step": [1, 2], "loss": [1.0, 1.0], "gradient_norm": [0.0, 2.0]})
    (panel,) = optimizer_health(table).panels
    assert panel.y_scale == "linear"
    assert np.min(panel.marks[0].low) == 0


def test_without_metrics_it_says_so():
    (panel,) = optimizer_health(pd.DataFrame()).panels
    assert "no gradient" in panel.marks[0].text
