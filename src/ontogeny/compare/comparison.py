"""What comparing gives: tables, and what was left out of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from ontogeny.statistics.arrangements import pairs_to_reach
from ontogeny.statistics.seeds import seeds_needed
from ontogeny.vocabulary import AXES, Place

#: Effects in standard deviations of the paired differences, for which the seeds needed are stated.
EFFECTS = (2.0, 1.0, 0.5)
#: A table's columns and their dtypes.
Columns = Mapping[str, str]
#: The axes of a place as columns.
PLACE: Columns = {axis: "Int64" if kind is int else "str" for axis, kind in AXES.items()}
LEFT_OUT: Columns = {"run": "str", "what": "str", "reason": "str"}


@dataclass(frozen=True)
class Comparison:
    """Runs held against the first of them; tables have one row a number, `run` says whose it is.

    runs        what is compared: seed, recipe, steps, grade
    divergence  first step whose model digests differ, how many steps were held together
    tensors     which tensors differ at the first common checkpoint that differs
    telemetry   metrics at common steps: value, reference_value, difference
    rows        measured rows at common steps and places: value, reference_value, difference
    distances   ‖θ − θ'‖ at common checkpoints; a null place is all parameters together
    similarity  CKA, SVCCA, PWCCA and Procrustes of common checkpoints on one stimulus, by layer
    barriers    loss barriers between the final checkpoints, as they are and with units aligned
    effects     of groups: paired differences over seeds, with intervals and exact p
    left_out    what could not be compared, and why
    statement   what may be concluded from so many runs
    """

    reference: str
    runs: pd.DataFrame
    divergence: pd.DataFrame
    statement: str
    left_out: pd.DataFrame
    tensors: pd.DataFrame = field(default_factory=pd.DataFrame)
    telemetry: pd.DataFrame = field(default_factory=pd.DataFrame)
    rows: pd.DataFrame = field(default_factory=pd.DataFrame)
    distances: pd.DataFrame = field(default_factory=pd.DataFrame)
    similarity: pd.DataFrame = field(default_factory=pd.DataFrame)
    barriers: pd.DataFrame = field(default_factory=pd.DataFrame)
    effects: pd.DataFrame = field(default_factory=pd.DataFrame)


class Gaps:
    """Collects what is left out."""

    def __init__(self) -> None:
        self._found: list[tuple[str, str, str]] = []

    def add(self, run: str, what: str, reason: str) -> None:
        self._found.append((run, what, reason))

    def table(self) -> pd.DataFrame:
        found = pd.DataFrame(list(dict.fromkeys(self._found)), columns=list(LEFT_OUT))
        return found.astype(dict(LEFT_OUT))


def table(frames: Sequence[pd.DataFrame], columns: Columns) -> pd.DataFrame:
    """Tables one below the other, with exactly these columns."""
    filled = [frame.reindex(columns=list(columns)).astype(dict(columns)) for frame in frames if len(frame)]
    empty = pd.DataFrame(columns=list(columns)).astype(dict(columns))
    return pd.concat(filled, ignore_index=True) if filled else empty


def statement(alpha: float) -> str:
    """What one run each can say, and how many seeds would say more."""
    counts = ", ".join(f"{seeds_needed(size, alpha, paired=True)} for {size:g} sd" for size in EFFECTS)
    return (
        f"one run each: differences are effects without a p-value. Paired seeds needed to show a mean "
        f"difference at alpha {alpha:g} with power 0.8, by its size in sds of the differences: {counts}; "
        f"the exact test needs at least {pairs_to_reach(alpha)}"
    )


def place_of(record: Mapping[Any, Any]) -> Place:
    """The place of a table's row."""
    return Place(**{axis: record[axis] for axis in AXES if not pd.isna(record.get(axis))})
