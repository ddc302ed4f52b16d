"""`ontogeny detect`: what changed in each run, what its repeats say together, and in what order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import pandas as pd

from ontogeny.cli.findings import print_errors, print_leads, print_seeds, print_transitions
from ontogeny.cli.stages import console, runs_below
from ontogeny.detect import by_configuration, detect, leads, over_seeds, write_seeds
from ontogeny.detect.looking import DEFAULT
from ontogeny.errors import BadArgument, NotARun
from ontogeny.series import home_of
from ontogeny.store.run import MANIFEST, Run


@dataclass(frozen=True)
class Asked:
    """How to look: what `detect` is told, and how runs are held together."""

    parts: Sequence[str] = ()
    told: Mapping[str, Any] = field(default_factory=dict)
    by: str = "best"
    together: bool | None = None
    controls: Sequence[Path] = ()
    leads: Sequence[tuple[str, str]] = ()
    home: Path | None = None

    @classmethod
    def of(
        cls, detector: str, null: str, least: str, correction: str, lead: Sequence[str], **rest: Any
    ) -> Self:
        """From words. Naming a detector brings its own null of series; `none` is none."""
        chosen = null or (DEFAULT if detector else "none")
        told = {
            "detector": detector or "half_rise",
            "null": None if chosen == "none" else chosen,
            "least": _least(least),
            "correction": correction,
        }
        return cls(told=told, leads=[_pair(words) for words in lead], **rest)


def _least(words: str) -> float | dict[str, float] | None:
    """`0.1`, or `induction=0.1,nats=0.2`; None for nothing."""
    if not words:
        return None
    try:
        if "=" not in words:
            return float(words)
        return {key.strip(): float(size) for key, _, size in (one.partition("=") for one in words.split(","))}
    except ValueError:
        allowed = "a number, or numbers by part or unit: 0.1; induction=0.1,nats=0.2"
        raise BadArgument("a least size that cannot be read", received=words, allowed=allowed) from None


def _pair(words: str) -> tuple[str, str]:
    names = [name.strip() for name in words.split(",")]
    if len(names) != 2 or not all(names):
        raise BadArgument("a lead is of one part over another", received=words, allowed="FIRST,SECOND")
    return names[0], names[1]


def detect_in(paths: Sequence[Path], asked: Asked) -> None:
    """Look at every run; tell of each, or of runs that repeat one another together."""
    found: dict[Path, pd.DataFrame] = {}
    below = [one for above in paths for one in runs_below(above)]
    for path in below:
        try:
            found[path] = detect(path, asked.parts, home=asked.home, **asked.told)
        except NotARun as error:  # one of many that was not measured does not keep the others from it
            if len(below) == 1:
                raise
            console.print(f"left out: {error.in_one_line()}", markup=False)
    if not found:
        raise NotARun("nothing was measured on any of these", remedy="run `ontogeny measure` on them first")
    controls = {
        str(path): detect(path, asked.parts, **asked.told)
        for above in asked.controls
        for path in runs_below(above)
    }
    every = []
    for label, members in _groups(list(found), asked.together).items():
        unique = len({path.name for path in members}) == len(members)
        tables = {path.name if unique else str(path): found[path] for path in members}
        if len(members) > 1 or asked.together or controls:
            together = over_seeds(tables, controls or None, by=asked.by)
            every.append(together.assign(group=label))
            print_seeds(label, together)
        else:
            print_transitions(members[0].name, found[members[0]])
            print_errors(home_of(members[0], asked.home))
        for first, second in asked.leads:
            print_leads(leads(tables, first, second))
    if every and len(paths) == 1 and not (paths[0] / MANIFEST).exists():
        write_seeds(paths[0], pd.concat(every, ignore_index=True))


def _groups(paths: Sequence[Path], together: bool | None) -> dict[str, list[Path]]:
    """Runs that repeat one another under what tells them apart; all that have no recipe, if asked for."""
    if together is False or len(paths) == 1:
        return {path.name: [path] for path in paths}
    runs = [Run.open(path) for path in paths if (path / MANIFEST).exists()]
    groups = {name: [run.path for run in some] for name, some in by_configuration(runs).items()}
    others = [path for path in paths if not (path / MANIFEST).exists()]
    if others and together:
        groups["checkpoints"] = others
    else:
        groups |= {path.name: [path] for path in others}
    return groups
