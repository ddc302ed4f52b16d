"""A small recorded run, and helpers to compare what was measured."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from ontogeny.record.recipe import Recipe
from ontogeny.record.train import train
from ontogeny.store.rows import read_rows
from ontogeny.vocabulary import AXES

RECIPE = {
    "model": {"width": 16, "layers": 2, "heads": 2, "mlp": "none", "tied": False},
    "objective": {
        "name": "copied_segments",
        "vocabulary": 32,
        "context": 32,
        "batch": 4,
        "shortest": 4,
        "longest": 16,
    },
    "optimizer": {"name": "adamw", "lr": 0.01},
    "training": {"steps": 6},
    "recording": {"every": 2, "dense_until": 4, "evaluate": 0, "samples": 0},
}


@pytest.fixture(scope="session")
def recorded(tmp_path_factory) -> Path:
    """Checkpoints 0, 1, 2, 4, 6; nothing measured. Copy it before writing."""
    path = tmp_path_factory.mktemp("recorded") / "run"
    train(Recipe.from_document(RECIPE), path, grade=False)
    return path


@pytest.fixture
def run_of(recorded, tmp_path) -> Callable[[str], Path]:
    """`run_of(name)`: a fresh copy of the recorded run."""

    def copy(name: str) -> Path:
        shutil.copytree(recorded, tmp_path / name)
        return tmp_path / name

    return copy


@pytest.fixture
def rows() -> Callable[..., pd.DataFrame]:
    """Everything measured, in an order that does not depend on when it was."""

    def read(home: Path, **only) -> pd.DataFrame:
        frame = read_rows(home)
        for name, value in only.items():
            frame = frame[frame[name] == value]
        keys = ["step", "part", "component", "stimulus", "reference", *AXES]
        return frame.sort_values(keys, ignore_index=True)

    return read
