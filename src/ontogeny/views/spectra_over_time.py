"""How many directions each weight matrix uses, over the run."""

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from ontogeny.catalogue import view
from ontogeny.views.figure import Figure, Line, Panel, numbers
from ontogeny.views.tables import (
    VARIANT,
    checkpoints,
    column,
    empty_panel,
    has,
    missing_rail,
    of_part,
    parts_over,
    placed,
    plural,
    step_range,
    variants,
    words,
)
from ontogeny.vocabulary import AXES

#: What is read of a row.
READ = ("part", *VARIANT, "step", *AXES, "value", "status")
#: Of a row whose part and stimulus are settled.
DRAWN = ("step", "layer", "matrix", "value", "status")


@view()
def spectra_over_time(rows: pd.DataFrame, *, parts: Sequence[str] = ()) -> Figure:
    """One panel a part and kind of matrix, one line a layer, the first layer darkest.

    Without `parts`, every part measured on matrices (effective rank, stable rank …). Matrices are of one
    kind when their names differ only in numbers. Panels of one part share their y range.
    """
    matrices = _matrices(rows)
    chosen, span = list(parts) or parts_over(matrices, "matrix"), step_range(rows)
    panels = [
        panel
        for part in chosen
        for said, measured in variants(of_part(matrices, part))
        for panel in _panels(part, said, measured, span)
    ]
    if not panels:
        panels = [empty_panel("Matrices", "no part was measured on weight matrices")]
    axes = [axis for axis in ("layer", "loop", "matrix") if axis in matrices]
    count = len(matrices.drop_duplicates(axes)) if axes else 0
    note = f"{plural(count, 'matrix', 'matrices')}; panels of one part share their scale." if count else ""
    return Figure("Spectra of the weights", tuple(panels), note=note, columns=min(3, len(panels)))


def _matrices(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of matrices; only columns that are read, without empty axes: each group copies all there are."""
    found = placed(rows[[name for name in READ if name in rows]], "matrix")
    empty = [name for name in AXES if name in found and name != "matrix" and not has(found, name)]
    return found.drop(columns=empty)


def kind_of(matrix: str) -> str:
    """A matrix's name without its numbers: `blocks.3.mlp.up.weight` -> `mlp.up`."""
    parts = [piece for piece in matrix.split(".") if not re.fullmatch(r"\d+", piece)]
    kept = [
        piece for piece in parts if piece not in ("blocks", "layers", "model", "transformer", "h", "weight")
    ]
    return ".".join(kept) or matrix


def _panels(part: str, said: str, measured: pd.DataFrame, span: tuple[float, float] | None) -> list[Panel]:
    kinds = {name: kind_of(name) for name in measured["matrix"].unique()}
    measured = measured[[name for name in DRAWN if name in measured]]
    measured = measured.assign(kind=measured["matrix"].map(kinds))
    values = column(measured, "value")
    finite = values[np.isfinite(values)]
    y_range = (min(0.0, float(finite.min())), float(finite.max()) * 1.05) if finite.size else None
    named = f"{words(part)} · {said}" if said else words(part)
    return [
        Panel(
            str(kind),
            (*_lines(frame), *missing_rail(frame), *checkpoints(frame)),
            y=named,
            x_range=span,
            y_range=y_range,
        )
        for kind, frame in measured.groupby("kind", sort=False)
    ]


def _lines(frame: pd.DataFrame) -> list[Line]:
    """One line a layer, in the layers' order; only the first and the last are named."""
    places: dict[str, list[int]] = {}
    for at, name in enumerate(_names(frame)):
        places.setdefault(name, []).append(at)
    steps, values = column(frame, "step"), column(frame, "value")
    lines = []
    for index, (name, rows) in enumerate(sorted(places.items(), key=lambda one: _numbers(one[0]))):
        order = np.array(rows)[np.argsort(steps[rows], kind="stable")]
        shade = index / (len(places) - 1) if len(places) > 1 else None
        label = _label(name) if len(places) > 1 and index in (0, len(places) - 1) else ""
        lines.append(Line(label, numbers(steps[order]), numbers(values[order]), shade=shade))
    return lines


def _names(frame: pd.DataFrame) -> list[str]:
    """A matrix's name for each row, behind its layer's number where it has one."""
    layers = ["" if np.isnan(layer) else f"{int(layer)}." for layer in column(frame, "layer")]
    return [layer + str(name) for layer, name in zip(layers, frame["matrix"], strict=True)]


def _numbers(name: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", name)]


def _label(name: str) -> str:
    found = _numbers(name)
    return f"layer {found[0]}" if found else name
