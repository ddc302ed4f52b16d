"""How much faster two workers are than one thread that makes the runs one after another.

Claim, on 16 seeds of the shipped `induction` recipe (ungraded on both sides): a sweep on two workers has at
least 1.9 times the throughput of `train` in one process of one thread, that is, it takes at most 1 / 1.9 =
0.526 of its wall time, start of the workers included. The single runs are trained by a process that has
loaded everything already.

The claim needs two free cores: where others are at work, too, it measures them, and the ratio of CPU times,
workers' start included, tells more. Where this process may use fewer than two, nothing is claimed. `--quick`
takes 4 seeds of 200 steps, where starting the workers weighs more, and claims nothing.

OMP_NUM_THREADS=1 python benchmarks/sweep_throughput.py [--quick]
"""

import os
import tempfile
import time
from pathlib import Path

import torch

from claims import Claim, conclude
from ontogeny.record.train import train
from ontogeny.sweep import Planned, State, seeded, sweep

WORKERS = 2
SEEDS, QUICK_SEEDS, QUICK_STEPS = 16, 4, 200
MOST = 1 / 1.9


def cpu_seconds() -> float:
    """Of this process and of all children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def one_after_another(plan: list[Planned], folder: Path) -> tuple[float, float]:
    """Wall and CPU seconds."""
    started, spent = time.perf_counter(), cpu_seconds()
    for one in plan:
        train(one.recipe, folder / one.name, grade=False)
    return time.perf_counter() - started, cpu_seconds() - spent


def swept(plan: list[Planned], folder: Path) -> tuple[float, float]:
    """Wall and CPU seconds."""
    started, spent = time.perf_counter(), cpu_seconds()
    ledger = sweep(plan, folder, workers=WORKERS, grade=False)
    taken = time.perf_counter() - started, cpu_seconds() - spent
    assert len(ledger.names(State.FINISHED)) == len(plan)
    return taken


def measure(quick: bool) -> list[Claim]:
    torch.set_num_threads(1)
    count, settings = (QUICK_SEEDS, [f"training.steps={QUICK_STEPS}"]) if quick else (SEEDS, [])
    plan = seeded("induction", range(count), settings)
    with tempfile.TemporaryDirectory() as name:
        together, more = swept(plan, Path(name) / "swept")
        single, spent = one_after_another(plan, Path(name) / "single")
    claimed = not quick and len(os.sched_getaffinity(0)) >= WORKERS
    ratio = together / single
    return [
        Claim(f"{count} runs, one after another", single, "s wall"),
        Claim(f"{count} runs, on {WORKERS} workers", together, "s wall"),
        Claim(
            "sweep / one after another",
            ratio,
            "ratio",
            MOST if claimed else None,
            f"throughput {1 / ratio:.2f} times",
        ),
        Claim("CPU time, sweep / one after another", more / spent, "ratio"),
    ]


if __name__ == "__main__":
    conclude(__doc__, measure)
