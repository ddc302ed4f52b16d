"""Compare: where runs part, by how much, in what they measure, and whether they end in one valley."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from ontogeny.compare.comparison import Columns, Comparison, Gaps, statement, table
from ontogeny.compare.divergence import DIVERGENCE, TENSORS, differing_tensors, first_difference
from ontogeny.compare.groups import compare_groups
from ontogeny.compare.measured import METRICS, ROWS, TELEMETRY, rows_side_by_side, telemetry_side_by_side
from ontogeny.compare.side import Side, describe, open_sides, require_common_steps
from ontogeny.compare.weights import BARRIERS, DISTANCES, SIMILARITY, compare_weights

__all__ = ["Comparison", "compare"]

#: Tables of runs held against the first, and their columns.
COLUMNS: dict[str, Columns] = {
    "divergence": DIVERGENCE,
    "tensors": TENSORS,
    "telemetry": TELEMETRY,
    "rows": ROWS,
    "distances": DISTANCES,
    "similarity": SIMILARITY,
    "barriers": BARRIERS,
}


def compare(
    paths: Sequence[Path | str],
    *,
    groups: bool = False,
    metrics: Sequence[str] = (),
    passes: bool = True,
    text: Path | str | None = None,
    pattern: str | None = None,
    trust: bool = False,
    alpha: float = 0.05,
) -> Comparison:
    """Hold every run against the first; nothing is written.

    paths    runs or folders of checkpoints, at least two in all; a folder of runs stands for its runs
    groups   every path is a group of runs (a run, or a folder of them), paired by the seed of their recipes
    metrics  telemetry beside `loss` and `heldout_loss`
    passes   whether models are run (similarity and barriers) or only their weights compared
    text     natural text to run series on that name no data of their own, as for `measure`
    pattern, trust   as for `Series.open`, for folders of checkpoints
    alpha    what p-values of groups are meant to be held against

    What cannot be compared is named in `left_out`. Errors: NotARun with fewer than two, NotObservable where
    two have no step in common or groups no seed; Damaged.
    Known: a run and its repetition -> no differing step, every difference and barrier 0.
    Misleads: one run each gives an effect and no p-value; see `statement`.
    """
    names = list(dict.fromkeys([*METRICS, *metrics]))
    if groups:
        return compare_groups(paths, names, alpha)
    sides = open_sides(paths, pattern, trust)
    return _against_first(sides, names, passes, None if text is None else Path(text), alpha)


def _against_first(
    sides: list[Side], metrics: list[str], passes: bool, text: Path | None, alpha: float
) -> Comparison:
    first, *others = sides
    gaps = Gaps()
    tables: dict[str, list[pd.DataFrame]] = {name: [] for name in COLUMNS}
    for other in others:
        require_common_steps(other, first)
        found = {
            "divergence": first_difference(other, first, gaps),
            "tensors": differing_tensors(other, first, gaps),
            "telemetry": telemetry_side_by_side(other, first, metrics, gaps),
            "rows": rows_side_by_side(other, first, gaps),
            **compare_weights(other, first, passes, text, gaps),
        }
        for name, frame in found.items():
            tables[name].append(frame)
    return Comparison(
        reference=first.label,
        runs=describe(sides),
        left_out=gaps.table(),
        statement=statement(alpha),
        **{name: table(frames, COLUMNS[name]) for name, frames in tables.items()},
    )
