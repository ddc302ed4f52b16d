"""How many directions each weight matrix uses, over the run."""

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from ontogeny.catalogue import view
from ontogeny.views.figure import Figure, Line, Panel, numbers
from ontogeny.views.tables import (
    checkpoints,
    column,
    empty_panel,
    missing_rail,
    of_part,
    parts_over,
    placed,
    plural,
    step_range,
    variants,
    words,
)


@view()
def spectra_over_time(rows: pd.DataFrame, *, parts: Sequence[str] = ()) -> Figure:
    """One panel a part and kind of matrix, one line a layer, the first layer darkest.

    Without `parts`, every part measured on matrices (effective rank, stable rank …). Matrices are of one
    kind when their names differ only in numbers. Panels of one part share their y range.
    """
    matrices = placed(rows, "matrix")
    chosen = list(parts) or parts_over(matrices, "matrix")
    panels = [
        panel
        for part in chosen
        for said, measured in variants(of_part(matrices, part))
        for panel in _panels(part, said, measured, rows)
    ]
    if not panels:
        panels = [empty_panel("Matrices", "no part was measured on weight matrices")]
    axes = [axis for axis in ("layer", "loop", "matrix") if axis in matrices]
    count = len(matrices.drop_duplicates(axes)) if axes else 0
    note = f"{plural(count, 'matrix', 'matrices')}; panels of one part share their scale." if count else ""
    return Figure("Spectra of the weights", tuple(panels), note=note, columns=min(3, len(panels)))


def kind_of(matrix: str) -> str:
    """A matrix's name without its numbers: `blocks.3.mlp.up.weight` -> `mlp.up`."""
    parts = [piece for piece in matrix.split(".") if not re.fullmatch(r"\d+", piece)]
    kept = [
        piece for piece in parts if piece not in ("blocks", "layers", "model", "transformer", "h", "weight")
    ]
    return ".".join(kept) or matrix


def _panels(part: str, said: str, measured: pd.DataFrame, rows: pd.DataFrame) -> list[Panel]:
    kinds = measured["matrix"].map(kind_of)
    values = column(measured, "value")
    finite = values[np.isfinite(values)]
    y_range = (min(0.0, float(finite.min())), float(finite.max()) * 1.05) if finite.size else None
    named = f"{words(part)} · {said}" if said else words(part)
    return [
        Panel(
            kind,
            (*_lines(frame), *missing_rail(frame), *checkpoints(frame)),
            y=named,
            x_range=step_range(rows),
            y_range=y_range,
        )
        for kind, frame in measured.groupby(kinds, sort=False)
    ]


def _lines(frame: pd.DataFrame) -> list[Line]:
    """One line a layer, in the layers' order; only the first and the last are named."""
    keys = frame["matrix"].map(str) if "layer" not in frame else _with_layer(frame)
    groups = sorted(frame.groupby(keys, sort=False), key=lambda group: _numbers(str(group[0])))
    lines = []
    for index, (name, one) in enumerate(groups):
        one = one.sort_values("step", kind="stable")
        shade = index / (len(groups) - 1) if len(groups) > 1 else None
        label = _label(str(name)) if len(groups) > 1 and index in (0, len(groups) - 1) else ""
        lines.append(Line(label, numbers(one["step"]), numbers(column(one, "value")), shade=shade))
    return lines


def _with_layer(frame: pd.DataFrame) -> pd.Series:
    """A matrix's name, behind its layer's number where it has one."""
    layers = ("" if pd.isna(layer) else f"{int(layer)}." for layer in frame["layer"])
    names = [layer + str(name) for layer, name in zip(layers, frame["matrix"], strict=True)]
    return pd.Series(names, index=frame.index)


def _numbers(name: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", name)]


def _label(name: str) -> str:
    found = _numbers(name)
    return f"layer {found[0]}" if found else name
