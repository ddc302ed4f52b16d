"""What a report is made from: one run's tables, and what its parts mean."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from ontogeny.audit import Audit
from ontogeny.catalogue import MEASURING, parts


@dataclass(frozen=True)
class PartNote:
    """What a part measures, in which unit, and how its number can mislead."""

    unit: str
    meaning: str
    misleads: str


@dataclass(frozen=True)
class RunTables:
    """Everything a report says about one run. Tables may be empty; the report says what is not there.

    `identity` has `name` and, as far as known: recipe, hash, parameters, checkpoints, steps, tokens, seconds,
    attempts, grade (E, D or S), grade_reason, disk (bytes by kind), environment, sources (hash by name),
    created, command. `audit` is what was found of checkpoints that others trained.
    """

    identity: Mapping[str, Any]
    telemetry: pd.DataFrame = field(default_factory=pd.DataFrame)
    rows: pd.DataFrame = field(default_factory=pd.DataFrame)
    transitions: pd.DataFrame = field(default_factory=pd.DataFrame)
    samples: Sequence[tuple[int, str]] = ()
    parts: Mapping[str, PartNote] = field(default_factory=dict)
    audit: Audit | None = None


def part_notes(names: Iterable[str]) -> dict[str, PartNote]:
    """Notes from the docstrings of measuring parts and summaries; a part that is not installed has none."""
    known = {name: found for kind in sorted(MEASURING) for name, found in parts(kind).items()}
    return {
        name: PartNote(known[name].unit, known[name].meaning, known[name].said("Misleads"))
        for name in sorted(set(names))
        if name in known
    }
