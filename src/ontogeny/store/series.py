"""An ordered set of checkpoints: a run's own, or a folder of them that somebody else wrote."""

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Self

import xxhash

from ontogeny.errors import NotARun
from ontogeny.store.checkpoint import MANIFEST as CHECKPOINT_MANIFEST
from ontogeny.store.checkpoint import open_checkpoint
from ontogeny.store.run import MANIFEST, Run

CONFIG = "config.json"
#: Where the rows of a foreign series go, beside its checkpoints.
ROWS_HOME = "ontogeny"


@dataclass(frozen=True)
class SeriesCheckpoint:
    """One checkpoint of a series: its step, its folder, and how to tell it from every other."""

    step: int
    folder: Path

    @cached_property
    def hash(self) -> str:
        """The manifest's hash of the model; for foreign folders, of the bytes of its weight files."""
        if (self.folder / CHECKPOINT_MANIFEST).exists():
            return open_checkpoint(self.folder).hash
        state = xxhash.xxh3_64()
        for path in sorted(p for p in self.folder.iterdir() if p.suffix in (".safetensors", ".bin")):
            with path.open("rb") as file:
                while block := file.read(1 << 24):
                    state.update(block)
        return state.hexdigest()


@dataclass(frozen=True)
class Series:
    """Checkpoints by step. `home` is where rows measured on them are kept; `run` is None for foreign ones."""

    path: Path
    home: Path
    name: str
    id: str
    checkpoints: tuple[SeriesCheckpoint, ...]
    run: Run | None = None

    @classmethod
    def open(cls, path: Path | str, home: Path | str | None = None) -> Self:
        """Open a run's folder, or a folder whose subfolders hold `config.json` and weights.

        The step of a foreign checkpoint is the last whole number in its folder's name (`checkpoint-500`,
        `step1000`). A folder that is itself one checkpoint is a series of one, unless others lie in it: then
        it is what a trainer saved beside them at the end, and is left out. NotARun if there is neither, or
        if two folders claim one step.
        """
        path = Path(path)
        if (path / MANIFEST).exists():
            run = Run.open(path)
            found = tuple(SeriesCheckpoint(c.step, c.folder) for c in run.checkpoints)
            return cls(path, Path(home or path), run.name, run.id, found, run)
        found = _foreign(path)
        if not found:
            raise NotARun(
                f"{path} holds neither a run nor checkpoints",
                received="no such folder" if not path.is_dir() else f"{len(list(path.iterdir()))} entries",
                allowed="a run's folder, or one folder a checkpoint with config.json and safetensors weights",
            )
        identity = xxhash.xxh3_64_hexdigest(str(path.resolve()).encode())[:8]
        return cls(path, Path(home or path / ROWS_HOME), path.name, identity, found)

    def at(self, step: int) -> SeriesCheckpoint:
        """The checkpoint of a step; NotARun names the nearest ones if there is none."""
        for checkpoint in self.checkpoints:
            if checkpoint.step == step:
                return checkpoint
        steps = [checkpoint.step for checkpoint in self.checkpoints]
        near = sorted(steps, key=lambda other: abs(other - step))[:3]
        raise NotARun(f"{self.name} has no checkpoint at step {step}", allowed=f"e.g. {near}")


def _foreign(path: Path) -> tuple[SeriesCheckpoint, ...]:
    if not path.is_dir():
        return ()
    folders = sorted(p for p in path.iterdir() if p.is_dir() and (p / CONFIG).exists())
    if not folders and (path / CONFIG).exists():
        return (SeriesCheckpoint(_step_of(path), path),)
    by_step: dict[int, Path] = {}
    for folder in folders:
        step = _step_of(folder)
        if step in by_step:
            raise NotARun(
                f"two folders of {path} claim to be step {step}",
                received=f"{by_step[step].name}, {folder.name}",
                allowed="one folder a step; the last whole number in its name is the step",
                remedy="move one of them elsewhere, or rename it",
            )
        by_step[step] = folder
    return tuple(SeriesCheckpoint(step, by_step[step]) for step in sorted(by_step))


def _step_of(folder: Path) -> int:
    numbers = re.findall(r"\d+", folder.name)
    return int(numbers[-1]) if numbers else 0
