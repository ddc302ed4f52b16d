"""What it costs to open 2,000 runs, and to say what became of each.

Claims, on 2,000 short finished runs (a tiny recipe trained once, measured and detected; copies of it, each
with an identity, a seed and a learning rate of its own):
  - `Runs.open` of the folder takes at most 2 s;
  - `Runs.summary` takes at most 5 s, both when the index is there and when every run is read.

Beside them, without a bound: the floor, reading the 2,000 `run.json` with the standard library's parser and
no seal. Best of three, wall time, files cached.
`--quick` makes 100 runs and claims nothing.

OMP_NUM_THREADS=1 python benchmarks/collection.py [--quick]
"""

import json
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from claims import Claim, conclude
from ontogeny.detect import detect
from ontogeny.measure import measure as measure_series
from ontogeny.record.recipe import Recipe
from ontogeny.record.train import train
from ontogeny.store.collection import Runs
from ontogeny.store.documents import read_json, write_json
from ontogeny.store.index import INDEX

RUNS, QUICK_RUNS = 2000, 100
RATES = (0.001, 0.003, 0.01)
RECIPE = {
    "title": "tiny",
    "model": {"width": 16, "layers": 1, "heads": 2, "mlp": "none"},
    "objective": {
        "name": "copied_segments",
        "vocabulary": 12,
        "context": 16,
        "batch": 4,
        "shortest": 3,
        "longest": 6,
    },
    "training": {"steps": 24},
    "recording": {"every": 6, "evaluate": 8},
}


def make_runs(home: Path, count: int) -> None:
    """One real run, and copies of it; what is never rewritten is linked."""
    first = home / "0000"
    train(Recipe.from_document(RECIPE), first, grade=False)
    measure_series(first, ("stable_rank", "residual_norm", "heldout_loss"))
    detect(first)
    document = read_json(first / "run.json", seal=True)
    for number in range(1, count):
        copy = home / f"{number:04d}"
        shutil.copytree(first, copy, copy_function=os.link)
        (copy / "run.json").unlink()
        document["id"] = secrets.token_hex(4)
        document["recipe"]["training"]["seed"] = number
        document["recipe"]["optimizer"]["lr"] = RATES[number % len(RATES)]
        write_json(copy / "run.json", document, seal=True)


def best(work: Callable[[], Any], before: Callable[[], Any] = lambda: None) -> float:
    times = []
    for _ in range(3):
        before()
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


def measure(quick: bool) -> list[Claim]:
    torch.set_num_threads(1)
    count = QUICK_RUNS if quick else RUNS
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        make_runs(home, count)
        floor = best(lambda: [json.loads(path.read_bytes()) for path in sorted(home.glob("*/run.json"))])
        opening = best(lambda: Runs.open(home))
        runs = Runs.open(home)
        cold = best(runs.summary, before=lambda: (home / INDEX).unlink(missing_ok=True))
        warm = best(runs.summary)
        table = runs.summary()
        assert len(table) == count
        assert table["optimizer.lr"].nunique() == len(RATES)
    return [
        Claim("floor: json.loads of every run.json", floor, "s"),
        Claim(
            f"Runs.open of {count} runs",
            opening,
            "s",
            None if quick else 2.0,
            f"{opening / floor:.1f} times the floor",
        ),
        Claim(f"Runs.summary of {count} runs, by the index", warm, "s", None if quick else 5.0),
        Claim(f"Runs.summary of {count} runs, every run read", cold, "s", None if quick else 5.0),
    ]


if __name__ == "__main__":
    conclude(__doc__, measure)
