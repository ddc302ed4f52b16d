"""How measuring a series grows with its checkpoints, and what a second worker brings.

Claims, on the first 10, 20 and 40 checkpoints of a run of `letters` that keeps 80 steps, with all parts
that are measured by default:
  - a checkpoint costs no more in a longer series: CPU seconds a checkpoint at 20 of that at 10, and at 40 of
    that at 20, at most 1.1; so does the marginal one, which leaves out what is done once;
  - two workers measure the 80 at least 1.7 times as fast as one, their start included. What they gain on 40
    is told beside it: a further process starts in some four seconds, however much there is to do.

The claim on workers needs two free cores and is made only where others leave them (load average at the
start); the ratio of CPU times is given beside it, and twice its inverse is what free cores could bring at
most. Beside them, without a bound: the high-water mark of memory. That one pass holds a layer at a time is
claimed by `fused_pass.py`. `--quick` takes 2, 4 and 8 checkpoints and claims nothing.

OMP_NUM_THREADS=1 python benchmarks/measuring_scale.py [--quick]
"""

import os
import resource
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import torch

from claims import Claim, conclude
from ontogeny.measure import measure as measure_series
from ontogeny.record.recipe import load_recipe
from ontogeny.record.train import train
from ontogeny.series import Series

COUNTS, QUICK_COUNTS = (10, 20, 40), (2, 4, 8)
#: Checkpoints of the claim on workers, as a multiple of the longest of these.
LONGER = 2
WORKERS, FASTER = 2, 1.7
MOST = 1.1


class Spent(NamedTuple):
    """Seconds, and the high-water mark of this process's memory afterwards, MiB."""

    wall: float
    cpu: float
    memory: float


def cpu_seconds() -> float:
    """Of this process and of all children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def trained(folder: Path, steps: int) -> Series:
    """A run that keeps every step."""
    settings = [f"training.steps={steps - 1}", f"recording.evaluate={steps}", "recording.samples=0"]
    every = ["recording.every=1", "recording.dense_until=0"]
    train(load_recipe("letters", [*settings, *every]), folder, grade=False)
    found = Series.open(folder)
    assert len(found.checkpoints) == steps, len(found.checkpoints)
    return found


def measured(series: Series, count: int, workers: int = 1) -> Spent:
    """Everything, on the first `count` checkpoints."""
    with tempfile.TemporaryDirectory() as home:
        started, spent = time.perf_counter(), cpu_seconds()
        shorter = replace(series, checkpoints=series.checkpoints[:count])
        assert measure_series(shorter, home=home, workers=workers) == count
        wall, cpu = time.perf_counter() - started, cpu_seconds() - spent
    return Spent(wall, cpu, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def claims_of_growth(spent: dict[int, Spent], claimed: bool) -> list[Claim]:
    most = MOST if claimed else None
    few, some, many = spent
    claims = [Claim(f"{n} checkpoints, each", 1000 * s.cpu / n, "ms CPU") for n, s in spent.items()]
    for shorter, longer in ((few, some), (some, many)):
        ratio = (spent[longer].cpu / longer) / (spent[shorter].cpu / shorter)
        claims.append(Claim(f"a checkpoint: of {longer} / of {shorter}", ratio, "ratio", most))
    first = (spent[some].cpu - spent[few].cpu) / (some - few)
    last = (spent[many].cpu - spent[some].cpu) / (many - some)
    claims.append(Claim(f"a further one: to {many} / to {some}", last / first, "ratio", most))
    return claims + [Claim(f"{n} checkpoints: peak memory", s.memory, "MiB") for n, s in spent.items()]


def claims_of_workers(one: Spent, two: Spent, count: int, load: float, claimed: bool) -> list[Claim]:
    """Of so many checkpoints; a bound only where it is claimed and the cores are free."""
    free = len(os.sched_getaffinity(0)) - load >= WORKERS - 0.5
    ratio, more = two.wall / one.wall, two.cpu / one.cpu
    note = f"{1 / ratio:.2f} times as fast; load {load:.1f} at the start"
    if not free:
        note += ": the cores are not free, nothing is claimed"
    return [
        Claim(f"{count} checkpoints, one worker", one.wall, "s wall"),
        Claim(f"{count} checkpoints, {WORKERS} workers", two.wall, "s wall"),
        Claim(
            f"{count} checkpoints, {WORKERS} workers / one",
            ratio,
            "ratio",
            1 / FASTER if claimed and free else None,
            note,
        ),
        Claim(
            f"{count} checkpoints: CPU time, {WORKERS} workers / one",
            more,
            "ratio",
            None,
            f"at most {WORKERS / more:.2f} times as fast on free cores",
        ),
    ]


def measure(quick: bool) -> list[Claim]:
    torch.set_num_threads(1)
    load = os.getloadavg()[0]
    counts = QUICK_COUNTS if quick else COUNTS
    with tempfile.TemporaryDirectory() as name:
        series = trained(Path(name) / "run", LONGER * counts[-1])
        measured(series, 2)  # imports, and tables of the corpus
        spent = {count: measured(series, count) for count in counts}
        most, all_of_it = counts[-1], LONGER * counts[-1]
        whole = {most: spent[most], all_of_it: measured(series, all_of_it)}
        shared = {count: measured(series, count, WORKERS) for count in whole}
    claims = claims_of_growth(spent, claimed=not quick)
    for count, one in whole.items():
        claimed = not quick and count == all_of_it
        claims += claims_of_workers(one, shared[count], count, load, claimed=claimed)
    return claims


if __name__ == "__main__":
    conclude(__doc__, measure)
