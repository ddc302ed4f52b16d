"""How the loss fell, and what formed meanwhile."""

import numpy as np
import pandas as pd

from ontogeny.catalogue import view
from ontogeny.views.figure import Figure, Line, Mark, Panel, Points, Rail, Scale, numbers
from ontogeny.views.tables import (
    checkpoints,
    clearest,
    column,
    empty_panel,
    plural,
    rule,
    short_place,
    step_range,
    words,
)
from ontogeny.views.telemetry import banded, kept, training_rows


@view()
def learning_curve(
    telemetry: pd.DataFrame,
    rows: pd.DataFrame,
    transitions: pd.DataFrame,
    *,
    scale: Scale = "step",
    window: float = 0.1,
    most: int = 300,
) -> Figure:
    """Training loss (band: min-max of the raw values; line: running mean), held-out loss, what formed when.

    One hairline a part, its place with the largest change, for the five that stand out most from their noise;
    the others are in the transition table. A later attempt replaces the steps it repeats; what it replaced
    stays visible, thin and dashed.
    """
    training = training_rows(telemetry)
    now, before = kept(training)
    if not np.isfinite(column(training, "loss")).any():
        return Figure("Learning curve", (empty_panel("Loss", "no finite training loss was recorded"),))
    marks: list[Mark] = [*banded(now, "loss", "train", window=window, most=most, scale=scale)]
    if len(before):
        marks.append(_superseded(before, window, most, scale))
    marks += _heldout(telemetry)
    for _, row in clearest(transitions).iterrows():
        marks.append(rule(row, f"{words(row['part'])} {short_place(row)}"))
    marks += checkpoints(rows)
    panel = Panel(
        "Loss",
        tuple(marks),
        x=f"step · line: mean over ±{50 * window:g} % of the step",
        y="nats a token",
        x_scale=scale,
        y_scale=_loss_scale(column(training, "loss")),
        x_range=step_range(telemetry, rows),
        latest=_latest(now, telemetry),
    )
    return Figure("Learning curve", (panel,), note=_note(training, before, marks))


def _heldout(telemetry: pd.DataFrame) -> list[Mark]:
    values, steps = column(telemetry, "heldout_loss"), column(telemetry, "step")
    finite = np.isfinite(values)
    marks: list[Mark] = (
        [Points("held out", numbers(steps[finite]), numbers(values[finite]))] if finite.any() else []
    )
    lost = steps[np.isinf(values)]
    return (
        [*marks, Rail("nonfinite", numbers(lost), (1,) * len(lost), "infinite held out")]
        if lost.size
        else marks
    )


def _superseded(before: pd.DataFrame, window: float, most: int, scale: Scale) -> Line:
    line = banded(before, "loss", "replaced", window=window, most=most, scale=scale)[0]
    assert isinstance(line, Line)
    return Line(line.label, line.x, line.y, role="superseded", hue=line.hue)


def _loss_scale(loss: np.ndarray) -> Scale:
    """Logarithmic only where a spike or a long fall would flatten the rest."""
    finite = loss[np.isfinite(loss)]
    return "log" if finite.min() > 0 and finite.max() > 30 * finite.min() else "linear"


def _latest(now: pd.DataFrame, telemetry: pd.DataFrame) -> str:
    said = []
    for name, metric, table in (("train", "loss", now), ("held out", "heldout_loss", telemetry)):
        values = column(table, metric)
        finite = values[np.isfinite(values)]
        if finite.size:
            said.append(f"{name} {finite[-1]:.3f}")
    return " · ".join(said)


def _note(training: pd.DataFrame, before: pd.DataFrame, marks: list[Mark]) -> str:
    loss = column(training, "loss")
    drawn = next(mark for mark in marks if isinstance(mark, Line))
    said = [plural(len(loss), "point"), plural(len(drawn.x), "bucket")]
    said.append(f"{int((~np.isfinite(loss)).sum()):,} non-finite")
    if "attempt" in training:
        said.append(plural(int(training["attempt"].nunique()), "attempt"))
    if len(before):
        said.append(f"{plural(len(before), 'step')} replaced by a later attempt")
    return ", ".join(said) + ". The band is min-max over each bucket: no extreme is left out."
