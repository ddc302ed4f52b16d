"""Audit a series or a table of results before anything is measured on it or drawn from it."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import pandas as pd

from ontogeny.audit.agreement import agreement_findings
from ontogeny.audit.axis import axis_findings
from ontogeny.audit.conditions import condition_findings
from ontogeny.audit.descent import family_findings
from ontogeny.audit.finding import Finding, Severity
from ontogeny.audit.imprint import Imprint, imprint, outline, thinned
from ontogeny.audit.profile import profile_findings
from ontogeny.audit.weights import weight_findings
from ontogeny.bridges import Evaluations, read_evaluations
from ontogeny.errors import NotARun
from ontogeny.series import Series

#: What can be audited: a series, results, or the path of either.
Audited = Series | Evaluations | Path | str

_ORDER = {severity: place for place, severity in enumerate(Severity)}


@dataclass(frozen=True)
class Audit:
    """What was found, gravest first, and what was looked at."""

    found: tuple[Finding, ...]
    looked_at: tuple[str, ...]

    @property
    def findings(self) -> pd.DataFrame:
        """One row a finding: severity, kind, series, steps, tensors, tasks, seen, meaning, numbers."""
        columns = list(Finding("no-step", "", "").record())
        return pd.DataFrame([one.record() for one in self.found], columns=columns)

    @property
    def sound(self) -> bool:
        """Whether there is no error among the findings; warnings and notes are left to the reader."""
        return not self.errors

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The errors among the findings."""
        return tuple(one for one in self.found if one.severity == Severity.ERROR)

    def kinds(self) -> Mapping[str, int]:
        """How many findings of each kind there are."""
        return Counter(one.kind for one in self.found)

    def text(self, most: int | None = None) -> str:
        """The findings as plain text by kind: what was seen, at most `most` times, and what it may mean."""
        lines = [f"looked at {line}" for line in self.looked_at]
        for kind, found in groupby(self.found, key=lambda one: one.kind):
            members = list(found)
            lines += ["", f"{members[0].severity}: {kind} ({members[0].meaning})"]
            lines += [f"  {one.series}: {one.seen}" for one in members[:most]]
            lines += [f"  and {len(members) - most} more"] if most and len(members) > most else []
        counts = [f"{sum(one.severity == s for one in self.found)} {s}s" for s in Severity]
        return "\n".join([*lines, "", ", ".join(counts) if self.found else "nothing found"])

    def json(self) -> str:
        """Findings and what was looked at, as JSON; undefined numbers are null."""
        records = [one.record() for one in self.found]
        for record in records:
            record["numbers"] = {
                k: (v if v == v and abs(v) != float("inf") else None) for k, v in record["numbers"].items()
            }
        return json.dumps({"looked_at": list(self.looked_at), "findings": records}, indent=1, allow_nan=False)


def audit(
    *given: Audited,
    pattern: str | None = None,
    trust: bool = False,
    quick: bool = False,
    done: Callable[[str], None] = lambda label: None,
) -> Audit:
    """Audit series of checkpoints and tables of results; several series are also held against one another.

    A path may hold both, or several series in its folders. `pattern` and `trust` are those of `Series.open`;
    `pattern` says how results are named, too. `quick` looks at hashes and steps of checkpoints only. Nothing
    is written. NotARun if a path holds neither checkpoints nor results.
    Known: a clean training has no finding but what is true of it, such as `no-update-yet`.
    Misleads: an audit without findings says that the labels are consistent, not that they are right.
    """
    series: list[Series] = []
    tables: list[Evaluations] = []
    for one in given:
        if isinstance(one, Series):
            series.append(one)
        elif isinstance(one, Evaluations):
            tables.append(one)
        else:
            opened, results = _open(one, pattern, trust)
            series += opened
            tables += results
    parts = [_series_audit(_named(series), quick, done)] if series else []
    return _together([*parts, *([_table_audit(Evaluations.together(tables))] if tables else [])])


def quick(series: Series) -> Audit:
    """What can be said of a series from its hashes and steps alone: equal checkpoints, gaps and jumps.

    A run knows its hashes; of other folders the files are read once. For a stage that is about to measure.
    """
    return _together([_series_audit({series.name: series}, True, lambda label: None)])


def _series_audit(series: Mapping[str, Series], quick: bool, done: Callable[[str], None]) -> Audit:
    found: list[Finding] = []
    kept: dict[str, list[Imprint]] = {}
    for name, one in series.items():
        members = []
        for checkpoint in one.checkpoints:
            members.append(outline(checkpoint) if quick else imprint(checkpoint))
            done(checkpoint.label)
        found += weight_findings(name, members)
        kept[name] = members if quick else thinned(members)
    found += family_findings(kept) if len(kept) > 1 else []
    found += axis_findings({name: [c.step for c in one.checkpoints] for name, one in series.items()})
    what = "hashes of " if quick else ""
    looked = [f"{name}: {what}{len(members)} checkpoints" for name, members in kept.items()]
    notes = [f"{name}: {note}" for name, one in series.items() for note in one.notes]
    return Audit(tuple(found), (*looked, *notes))


def _table_audit(table: Evaluations) -> Audit:
    series = table.series()
    found = [*condition_findings(table), *agreement_findings(series)]
    found += axis_findings({name: [one.step or 0 for one in members] for name, members in series.items()})
    found += [finding for name, members in series.items() for finding in profile_findings(name, members)]
    looked = tuple(f"{name}: results of {len(members)} checkpoints" for name, members in series.items())
    return Audit(tuple(found), looked)


def _together(audits: Sequence[Audit]) -> Audit:
    found = [finding for one in audits for finding in one.found]
    order = sorted(found, key=lambda one: (_ORDER[one.severity], one.kind, one.series, one.steps))
    return Audit(tuple(order), tuple(line for one in audits for line in one.looked_at))


def _open(where: Path | str, pattern: str | None, trust: bool) -> tuple[list[Series], list[Evaluations]]:
    local = not str(where).startswith("hub:")
    problems: list[NotARun] = []
    tables: list[Evaluations] = []
    try:
        tables = [read_evaluations(where, pattern)] if local else []
    except NotARun as error:
        problems.append(error)
    try:
        return [Series.open(where, pattern=pattern, trust=trust)], tables
    except NotARun as error:
        problems.append(error)
    series = _below(Path(where), pattern, trust) if local and not tables else []
    if not series and not tables:
        raise NotARun(
            f"{where} cannot be audited",
            received="; ".join(error.what for error in problems),
            allowed="a series of checkpoints, a folder of several, or results of evaluations",
            remedy=problems[-1].remedy,
        )
    return series, tables


def _below(path: Path, pattern: str | None, trust: bool) -> list[Series]:
    """The series in the folders of a folder, such as the seeds of a sweep."""
    found = []
    for folder in sorted(p for p in path.iterdir() if p.is_dir()) if path.is_dir() else []:
        try:
            found.append(Series.open(folder, pattern=pattern, trust=trust))
        except NotARun:
            continue
    return found


def _named(series: Sequence[Series]) -> dict[str, Series]:
    """Series by name; those of one name by their path."""
    names = [one.name for one in series]
    return {one.name if names.count(one.name) == 1 else str(one.path): one for one in series}
