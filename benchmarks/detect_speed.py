"""How long it takes to look at ten thousand series of 200 checkpoints.

Each is held against 199 surrogates of its own and gets an interval from 500 resamplings. Beside it stands
the floor: drawing the surrogates alone, which no detector can do without.
"""

import multiprocessing
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from claims import Claim, conclude  # the benchmarks are scripts that import their neighbours
from ontogeny.catalogue import parts

#: Series, checkpoints and processes of the claim; most seconds it may take.
SERIES, POINTS, PROCESSES, MOST = 10_000, 200, 2, 60.0
STEPS = 10 * np.arange(1, POINTS + 1)


def looked_at(task: tuple[str, int, int]) -> tuple[float, float]:
    """Seconds one process takes for so many series, by the clock and of the processor; half have a rise.

    Without a detector it draws the surrogates alone.
    """
    name, count, seed = task
    made = parts("detector")[name or "half_rise"]
    null = parts("null")[made.null]
    rng = np.random.default_rng(seed)
    series = rng.normal(size=(count, POINTS)) + 6 * ((np.arange(count) % 2)[:, None] * (STEPS > 1000))
    made.make(STEPS, series[0], null.make(STEPS, series[0])[:, None], **made.options["surrogate"])
    begun = time.perf_counter(), time.process_time()
    for values in series:
        draws = null.make(STEPS, values)[:, None]
        if name:
            made.make(STEPS, values, draws, **made.options["surrogate"])
    return time.perf_counter() - begun[0], time.process_time() - begun[1]


def seconds(name: str, count: int) -> tuple[float, float]:
    """Seconds two processes take for `count` series together, starting them not counted: clock, processor."""
    with multiprocessing.get_context("spawn").Pool(PROCESSES) as pool:
        each = pool.map(looked_at, [(name, count // PROCESSES, seed) for seed in range(PROCESSES)])
    return max(clock for clock, _ in each), max(processor for _, processor in each)


def measure(quick: bool) -> list[Claim]:
    count = 200 if quick else SERIES
    scale, note = SERIES / count, "scaled from 200 series" if quick else ""
    (clock, processor), (floor, bare) = seconds("half_rise", count), seconds("", count)
    found = [
        Claim("half_rise over 10,000 series of 200", clock * scale, "s", MOST, note),
        Claim("the same, of the processor (what it takes on free cores)", processor * scale, "s", note=note),
        Claim("their surrogates alone (floor)", floor * scale, "s", note=note),
        Claim("the same, of the processor", bare * scale, "s", note=note),
    ]
    for name in sorted(set(parts("detector")) - {"half_rise"}):
        each = seconds(name, 40)[1] / 40 * 1000 * PROCESSES
        found.append(Claim(f"one series with {name}", each, "ms", note="of one processor"))
    return found


if __name__ == "__main__":
    conclude(__doc__, measure)
