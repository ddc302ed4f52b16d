import numpy as np
import pandas as pd

from ontogeny.views.telemetry import banded, kept, recorded, skipped_rail, training_rows


def test_a_step_whose_numbers_are_all_nan_is_a_training_step():
    table = pd.DataFrame(
        {
            "step": [1, 2, 2],
            "applied": [True, False, None],
            "loss": [1.0, np.nan, np.nan],
            "heldout_loss": [np.nan, np.nan, 3.0],
        }
    )
    assert training_rows(table).index.tolist() == [0, 1]
    assert training_rows(table.drop(columns="applied")).index.tolist() == [0, 1]


def test_the_last_attempt_counts():
    table = pd.DataFrame({"step": [1, 2, 2, 3], "attempt": [0, 0, 1, 1], "loss": [1.0, 2.0, 3.0, 4.0]})
    now, before = kept(table.sample(frac=1, random_state=0))
    assert now["loss"].tolist() == [1, 3, 4]
    assert before["loss"].tolist() == [2]


def test_only_dense_metrics_read_a_gap_as_nonfinite():
    table = pd.DataFrame({"step": [1, 2], "loss": [1.0, np.nan], "update_ratio": [np.nan, np.inf]})
    assert len(recorded(table, "loss")[0]) == 2
    assert recorded(table, "update_ratio")[0].tolist() == [2]


def test_nonfinite_values_break_the_line_and_go_to_the_rail():
    table = pd.DataFrame({"step": [1, 2, 3], "loss": [1.0, np.nan, 2.0]})
    line, rail = banded(table, "loss", "train")
    assert np.isnan(line.y).tolist() == [False, True, False]
    assert (rail.kind, rail.x, rail.count) == ("nonfinite", (2.0,), (1,))


def test_skipped_updates_are_counted():
    table = pd.DataFrame({"step": [1, 2, 3], "applied": [True, False, None]})
    (rail,) = skipped_rail(table)
    assert (rail.x, rail.count) == ((2.0,), (1,))
    assert skipped_rail(table.iloc[:1]) == ()


def test_a_norm_that_was_recorded_at_every_tenth_step_has_no_nonfinite_values():
    """`Recorder(every=…)`: what was not taken is no value. One that blew up with the loss still is one."""
    steps = np.arange(1, 101)
    norm = np.where(steps % 10 == 0, 2.0, np.nan)
    loss = np.ones(100)
    found = recorded(pd.DataFrame({"step": steps, "loss": loss, "gradient_norm": norm}), "gradient_norm")
    assert found[0].tolist() == list(range(10, 101, 10))
    assert (
        len(banded(pd.DataFrame({"step": steps, "loss": loss, "gradient_norm": norm}), "gradient_norm", ""))
        == 1
    )
    loss[60:], norm = np.nan, np.where(steps <= 60, 2.0, np.nan)
    norm[10] = np.nan
    table = pd.DataFrame({"step": steps, "loss": loss, "gradient_norm": norm})
    assert np.isnan(recorded(table, "gradient_norm")[1]).sum() == 41
