"""What is compared: series by label, with what is known of their making."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from ontogeny.errors import NotARun, NotObservable
from ontogeny.series import Series
from ontogeny.store.collection import Runs
from ontogeny.store.run import MANIFEST, Run


@dataclass(frozen=True)
class Side:
    """One series under the name it has in tables."""

    label: str
    series: Series

    @property
    def run(self) -> Run | None:
        return self.series.run

    @property
    def recipe(self) -> dict[str, Any]:
        """Its recipe; empty where it was not made from one."""
        return {} if self.run is None else self.run.identity.get("recipe", {})

    @property
    def seed(self) -> int | None:
        return self.recipe.get("training", {}).get("seed")

    @property
    def steps(self) -> set[int]:
        """Steps of its checkpoints."""
        return {checkpoint.step for checkpoint in self.series.checkpoints}

    @property
    def recorded(self) -> set[int]:
        """Steps at which its journal holds anything of the whole model."""
        return set() if self.run is None else set(self.run.telemetry()["step"].tolist())


def open_sides(paths: Sequence[Path | str], pattern: str | None = None, trust: bool = False) -> list[Side]:
    """Series below the paths, at least two; labels are folders' names, or paths where two are alike."""
    found = [series for path in paths for series in series_at(Path(path), pattern, trust)]
    if len(found) < 2:
        raise NotARun(
            "there is nothing to compare with",
            received=", ".join(str(series.path) for series in found) or "no run",
            allowed="two or more runs, folders of runs, or folders of checkpoints",
        )
    names = [series.name for series in found]
    unique = len(set(names)) == len(names)
    return [Side(series.name if unique else str(series.path), series) for series in found]


def series_at(path: Path, pattern: str | None = None, trust: bool = False) -> list[Series]:
    """A run or a folder of checkpoints is itself; a folder of runs is its runs."""
    if not (path / MANIFEST).exists() and any(path.glob(f"*/{MANIFEST}")):
        return [Series.open(run.path) for run in Runs.open(path)]
    return [Series.open(path, pattern=None if (path / MANIFEST).exists() else pattern, trust=trust)]


def require_common_steps(here: Side, there: Side) -> None:
    """NotObservable where neither checkpoints nor telemetry of two series share a step."""
    if here.steps & there.steps or here.recorded & there.recorded:
        return
    received = "; ".join(f"{side.label}: {_span(side)}" for side in (there, here))
    raise NotObservable(
        f"{there.label} and {here.label} have no step in common",
        received=received,
        allowed="runs that recorded or kept at least one step alike",
        remedy="keep the same steps in both recipes: recording.every, recording.explicit",
    )


def _span(side: Side) -> str:
    steps = side.steps | side.recorded
    return f"steps {min(steps)} to {max(steps)}" if steps else "nothing recorded yet"


def describe(sides: Sequence[Side]) -> pd.DataFrame:
    """One row a series: what it is and how it was made."""
    lines = []
    for side in sides:
        identity = {} if side.run is None else side.run.identity
        lines.append(
            {
                "run": side.label,
                "path": str(side.series.path),
                "title": str(identity.get("title", "")),
                "seed": side.seed,
                "recipe_hash": identity.get("recipe_hash", ""),
                "checkpoints": len(side.series.checkpoints),
                "last_step": max(side.steps | side.recorded, default=None),
                "outcome": "" if side.run is None else side.run.outcome,
                "grade": "" if side.run is None else side.run.grade,
            }
        )
    return pd.DataFrame(lines).astype({"seed": "Int64", "last_step": "Int64"})
