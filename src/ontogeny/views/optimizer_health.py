"""Whether the optimizer was well: gradients, clipping, update sizes, learning rate."""

import numpy as np
import pandas as pd

from ontogeny.catalogue import view
from ontogeny.views.buckets import buckets
from ontogeny.views.figure import Figure, Line, Mark, Panel, Scale, numbers
from ontogeny.views.tables import column, empty_panel, has, plural, step_range
from ontogeny.views.telemetry import banded, kept, recorded, skipped_rail, training_rows

#: Metric, title, unit, and the y scale it wants.
METRICS: tuple[tuple[str, str, str, Scale], ...] = (
    ("gradient_norm", "Gradient norm", "before clipping", "log"),
    ("clip_coefficient", "Clip coefficient", "1 = not clipped", "linear"),
    ("update_ratio", "Update ratio", "‖update‖ / ‖weights‖", "log"),
    ("learning_rate", "Learning rate", "", "linear"),
)


@view()
def optimizer_health(
    telemetry: pd.DataFrame, *, scale: Scale = "step", window: float = 0.1, most: int = 150
) -> Figure:
    """Gradient norm, clip coefficient, update ratio with its spread over matrices, learning rate.

    A clip coefficient of 1 means the gradient was used as it was. The update ratio is ‖update‖ / ‖weights‖.
    """
    now, _ = kept(training_rows(telemetry))
    said = {"window": window, "most": most, "scale": scale}
    label = f"step · line: mean over ±{50 * window:g} % of the step"
    shared = {"x": label, "x_scale": scale, "x_range": step_range(telemetry)}
    panels = []
    for metric, title, unit, y_scale in METRICS:
        if not has(now, metric):
            continue
        marks: list[Mark] = [*_spread(now, metric, most, scale), *banded(now, metric, "", **said)]
        marks += skipped_rail(now, most=most, scale=scale) if metric == "update_ratio" else ()
        y_range = (0.0, 1.05) if metric == "clip_coefficient" else None
        chosen = _positive(column(now, metric), y_scale)
        panels.append(
            Panel(
                title,
                tuple(marks),
                y=unit,
                y_scale=chosen,
                y_range=y_range,
                latest=_latest(now, metric),
                **shared,
            )
        )
    if not panels:
        panels = [empty_panel("Optimizer", "no gradient, update or learning rate was recorded")]
    return Figure("Optimizer", tuple(panels), note=_note(now), columns=2)


def _positive(values: np.ndarray, wanted: Scale) -> Scale:
    """A logarithmic axis only for values it can show: a zero would vanish from it."""
    finite = values[np.isfinite(values)]
    return wanted if wanted != "log" or (finite.size and finite.min() > 0) else "linear"


def _matrices(now: pd.DataFrame, metric: str) -> list[str]:
    return [str(name) for name in now.columns if str(name).startswith(f"{metric}/")]


def _spread(now: pd.DataFrame, metric: str, most: int, scale: Scale) -> list[Mark]:
    """The band from the smallest to the largest matrix; none for fewer than two."""
    each = [recorded(now, name) for name in _matrices(now, metric)]
    if len(each) < 2:
        return []
    steps, values = (np.concatenate(columns) for columns in zip(*each, strict=True))
    held = buckets(steps, values, spacing="step" if scale == "step" else "linear", most=most)
    return [Line("matrices", numbers(held.centre), (), numbers(held.low), numbers(held.high), role="null")]


def _latest(now: pd.DataFrame, metric: str) -> str:
    values = column(now, metric)
    finite = values[np.isfinite(values)]
    return f"{finite[-1]:.3g}" if finite.size else ""


def _note(now: pd.DataFrame) -> str:
    if not has(now, "clip_coefficient"):
        return ""
    used = column(now, "clip_coefficient")
    used = used[np.isfinite(used)]
    clipped = int((used < 1).sum())
    note = (
        f"The gradient was clipped at {clipped:,} of {plural(len(used), 'step')} ({clipped / len(used):.1%})."
    )
    if "applied" in now:
        skipped = int((~now["applied"].astype("boolean").fillna(True)).sum())
        note += f" {plural(skipped, 'update')} skipped."
    if matrices := _matrices(now, "gradient_norm"):
        note += (
            f" Grey band: from the smallest to the largest of {plural(len(matrices), 'matrix', 'matrices')}."
        )
    return note
