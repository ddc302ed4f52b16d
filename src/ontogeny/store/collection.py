"""Many runs in one folder, read with a run axis."""

from collections.abc import Iterator
from pathlib import Path
from typing import Self

import pandas as pd

from ontogeny.errors import NotARun, UnknownName
from ontogeny.store.index import lines_of, summary_of
from ontogeny.store.labelled import labelled
from ontogeny.store.run import MANIFEST, Run


class Runs:
    """A folder of runs (seeds, a sweep, branches), by name."""

    def __init__(self, path: Path, runs: dict[str, Run]) -> None:
        self.path, self._runs = path, runs

    @classmethod
    def open(cls, path: Path | str) -> Self:
        """All runs directly below a folder; NotARun if there is none."""
        path = Path(path)
        folders = sorted(p.parent for p in path.glob(f"*/{MANIFEST}"))
        if not folders:
            raise NotARun(
                f"{path} holds no runs",
                received="no such folder" if not path.is_dir() else "no folder in it has a run.json",
                remedy="give the folder that the runs' folders are in",
            )
        return cls(path, {folder.name: Run.open(folder) for folder in folders})

    def __len__(self) -> int:
        return len(self._runs)

    def __iter__(self) -> Iterator[Run]:
        return iter(self._runs.values())

    def __getitem__(self, name: str) -> Run:
        if name not in self._runs:
            raise UnknownName("run of this collection", name, self._runs)
        return self._runs[name]

    def telemetry(self, *names: str) -> pd.DataFrame:
        """`Run.telemetry` of every run that has any of it, one below the other, with a column `run`.

        UnknownName for a metric that no run has.
        """
        known = {name: set(run.metrics) for name, run in self._runs.items()}
        for name in names:
            if not any(name in metrics for metrics in known.values()):
                raise UnknownName("metric of this collection", name, set().union(*known.values()))
        chosen = {run.name: [name for name in names if name in known[run.name]] for run in self}
        return self._stacked(
            {run.name: run.telemetry(*chosen[run.name]) for run in self if chosen[run.name] or not names}
        )

    def table(self, part: str | None = None) -> pd.DataFrame:
        """`Run.table` of every run that has any of it; `run` holds their names.

        UnknownName for a part that was measured on no run.
        """
        frames = {run.name: run.table() for run in self}
        if part is not None:
            known = {name for frame in frames.values() for name in frame["part"]}
            if part not in known:
                raise UnknownName("measured part of this collection", part, known)
            frames = {name: frame[frame["part"] == part] for name, frame in frames.items()}
        return self._stacked({name: frame for name, frame in frames.items() if part is None or len(frame)})

    def rows(self, part: str, component: str = "", stimulus: str | None = None):
        """One part's numbers as a labelled array: run, step, then its axes (xarray)."""
        return labelled(self.table(part), part, component, stimulus, run=True)

    @property
    def transitions(self) -> pd.DataFrame:
        """What `detect` found in each run."""
        return self._stacked({run.name: run.transitions for run in self})

    def summary(self) -> pd.DataFrame:
        """One row a run: `run`, `title`, every recipe value that differs between the runs (dotted keys),
        `seed`, `steps` (the last taken), `loss` (there), `heldout_loss` (the lowest), `outcome`, `grade`, and
        for everything that formed anywhere the step at which it did, as `formed/part@stimulus`.

        Missing where there is none. A missing step of `formed/…` means that no transition is claimed there,
        because there was none, or nothing was measured or looked for. The lowest of many noisy losses is
        lower than what the model is worth; compare it only between runs evaluated equally often. The lines
        are kept in `index.parquet`, which is renewed where runs changed and may be deleted.
        """
        return summary_of(lines_of(self.path, self))

    @staticmethod
    def _stacked(frames: dict[str, pd.DataFrame]) -> pd.DataFrame:
        marked = []
        for name, frame in frames.items():
            frame = frame.drop(columns="run", errors="ignore")
            frame.insert(0, "run", name)
            marked.append(frame)
        return pd.concat(marked, ignore_index=True)


def open_runs(path: Path | str) -> list[Run]:
    """The run at a path, or all runs of the collection there."""
    path = Path(path)
    return [Run.open(path)] if (path / MANIFEST).exists() else list(Runs.open(path))
