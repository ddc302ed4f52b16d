"""Which runs repeat one another: the same configuration under another seed."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ontogeny.errors import NotObservable
from ontogeny.store.run import MANIFEST, Run

#: What a recipe says to its reader, and the seed: it may differ between repeats.
FREE = ("title", "expected", "training.seed")


def configuration(run: Run) -> dict[str, Any]:
    """A run's recipe under dotted keys, without its seed and its prose; empty where it has no recipe."""
    return {k: v for k, v in _dotted(run.identity.get("recipe", {})).items() if k not in FREE}


def by_configuration(runs: Iterable[Run]) -> dict[str, list[Run]]:
    """Runs that differ in nothing but their seed, together; named by what tells the groups apart.

    A run without a recipe repeats no other and stands alone, under its own name.
    """
    groups: dict[str, list[Run]] = {}
    settings: dict[str, dict[str, Any]] = {}
    for run in runs:
        found = configuration(run)
        key = json.dumps(found, sort_keys=True, default=str) if found else run.name
        groups.setdefault(key, []).append(run)
        settings[key] = found
    told = [one for one in settings.values() if one]
    keys = sorted({key for one in told for key in one})
    varied = [key for key in keys if len({json.dumps(one.get(key), default=str) for one in told}) > 1]
    named = {}
    for key, members in groups.items():
        said = ", ".join(f"{name}={settings[key].get(name)}" for name in varied) if settings[key] else key
        named[said or members[0].path.resolve().parent.name] = members
    return named


def require_repeats(paths: Sequence[Path | str]) -> None:
    """NotObservable where runs with recipes are of several configurations, or two are of one seed."""
    runs = [Run.open(path) for path in paths if (Path(path) / MANIFEST).exists()]
    runs = [run for run in runs if run.identity.get("recipe")]
    groups = by_configuration(runs)
    if len(groups) > 1:
        raise NotObservable(
            "runs of several configurations do not repeat one another",
            received="; ".join(
                f"{name or 'the other'}: {len(members)} runs" for name, members in groups.items()
            ),
            allowed="runs that differ in their seed only",
            remedy="give one configuration, and the others as controls",
        )
    seen: dict[Any, str] = {}
    for run in runs:
        seed = run.identity["recipe"].get("training", {}).get("seed")
        if seed in seen:
            raise NotObservable(
                "a run and its copy are one run, not two",
                received=f"{seen[seed]} and {run.name}, both of seed {seed}",
                allowed="one run a seed",
                remedy="leave one of them out",
            )
        seen[seed] = run.name


def _dotted(table: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """The values of nested tables under dotted keys; lists are values."""
    found: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, Mapping) and value:
            found |= _dotted(value, f"{above}{key}.")
        else:
            found[f"{above}{key}"] = value
    return found
