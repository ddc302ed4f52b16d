"""How often each detector claims what is not there, finds what is, and covers where it is.

python benchmarks/calibration.py [--quick] [--trials 2000] [--rounds FILE] [--only TABLE] [--processes 2]

Every detector of the catalogue runs as `ontogeny detect` runs it on a series without a null of its own: held
against its own surrogates. A rate meets its bound if its 95 % Clopper-Pearson interval does. With `--rounds`
the counts are kept in a file, round by round, and a second call goes on from there.
"""

import argparse
import json
import multiprocessing
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import scipy.stats
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parent))

import processes  # the benchmarks are scripts that import their neighbours
from ontogeny.catalogue import parts
from ontogeny.vocabulary import Located, Verdict, each_located
from processes import DEMO, DRIFTING, EVEN, STILL

#: Series a task draws.
ROUND = 50
#: Every so many of them the detectors also run alone, without a null.
BARE_EVERY = 5
#: `trough` is `peak` turned over, number by number (a test says so), and is not run again.
DETECTORS = {name: made for name, made in parts("detector").items() if name != "trough"}
LEVELS = [name for name in DETECTORS if name not in ("peak", "reversal")]

#: Cells with a change: which schedule, what is drawn, and the detectors that look for it.
CHANGES = {
    "step of 4 sds": (EVEN, lambda rng, steps: processes.step(rng, steps, 4), LEVELS),
    "step of 8 sds": (EVEN, lambda rng, steps: processes.step(rng, steps, 8), LEVELS),
    "step of 4 sds, AR(0.7)": (
        EVEN,
        lambda rng, steps: processes.step(rng, steps, 4, processes.remembering),
        LEVELS,
    ),
    "rise of 8 sds": (EVEN, lambda rng, steps: processes.rise(rng, steps, 8), ["sigmoid", "double_sigmoid"]),
    "bump of 4 sds": (EVEN, lambda rng, steps: processes.bump(rng, steps, 4), ["peak"]),
    "bump of 8 sds": (EVEN, lambda rng, steps: processes.bump(rng, steps, 8), ["peak"]),
    "tent of 4 sds": (EVEN, lambda rng, steps: processes.tent(rng, steps, 4), ["reversal"]),
    "tent of 8 sds": (EVEN, lambda rng, steps: processes.tent(rng, steps, 8), ["reversal"]),
    "step of 8 sds, demo's steps": (DEMO, lambda rng, steps: processes.step(rng, steps, 8), LEVELS),
}
#: A series that does turn round, so that a turn is no false alarm.
TURNING = "slow wave, .1"
#: The same without a change.
NOTHING = {name: (EVEN, process) for name, process in (STILL | DRIFTING).items()}
NOTHING |= {f"{name}, demo's steps": (DEMO, STILL[name]) for name in ("white noise", "AR(0.7)")}


def located(name: str, steps: NDArray, values: NDArray, nulls: dict[str, NDArray]) -> tuple[Located, ...]:
    """What a detector says of a series beside its own surrogates, which other detectors may share."""
    made = DETECTORS[name]
    if made.null not in nulls:
        nulls[made.null] = parts("null")[made.null].make(steps, values)[:, None]
    return each_located(made.make(steps, values, nulls[made.null], **made.options["surrogate"]))


def looks(name: str, steps: NDArray, values: NDArray) -> bool:
    """Whether a detector alone, without a null, takes a series for one with a transition."""
    made = DETECTORS[name]
    found = each_located(made.make(steps, values, None, **made.options["surrogate"]))
    return any("looks like transition" in one.reason for one in found)


def counted(task: tuple[str, int]) -> tuple[str, dict[str, dict[str, int]]]:
    """One round of one cell: how often each detector claimed, answered, covered."""
    cell, number = task
    counts: dict[str, Counter] = {}
    rng = np.random.default_rng([71, sum(cell.encode()), number])
    for series in range(ROUND):
        truth, nulls = None, {}
        if cell in NOTHING:
            steps, process = NOTHING[cell]
            values, names = process(rng, steps), list(DETECTORS)
        else:
            steps, change, names = CHANGES[cell]
            values, truth = change(rng, steps)
        for name in names:
            found = located(name, steps, values, nulls)
            count = counts.setdefault(name, Counter())
            count["trials"] += 1
            count["answered"] += all("too-short" not in one.reason for one in found)
            claims = [one for one in found if one.verdict is Verdict.TRANSITION]
            count["claimed"] += bool(claims)
            if truth is None:
                if series % BARE_EVERY == 0:
                    count["bare trials"] += 1
                    count["bare"] += looks(name, steps, values)
                continue
            told = claims or [one for one in found if one.low is not None]
            if told:
                nearest = min(told, key=lambda one: abs(np.log(max(one.step or 0.5, 0.5)) - np.log(truth)))
                inside = nearest.low <= truth <= nearest.high
                count["intervals"] += 1
                count["covered"] += inside
                count["claims covered"] += inside and bool(claims)
        if truth is None:
            count = counts.setdefault("CUSUM", Counter())
            count["trials"] += 1
            count["claimed"] += cusum_alarms(values) > 0
    return cell, {name: dict(count) for name, count in counts.items()}


def cusum_alarms(values: NDArray, slack: float = 0.5, limit: float = 5.0) -> int:
    """Alarms of a two-sided CUSUM with the mean and sd of the first third; it begins anew after each."""
    quiet = values[: values.size // 3]
    up, down, alarms = 0.0, 0.0, 0
    for z in (values[quiet.size :] - quiet.mean()) / quiet.std(ddof=1):
        up, down = max(0.0, up + z - slack), max(0.0, down - z - slack)
        if max(up, down) > limit:
            alarms, up, down = alarms + 1, 0.0, 0.0
    return alarms


def interval(hits: int, trials: int) -> tuple[float, float]:
    """95 % Clopper-Pearson, in per cent."""
    low = scipy.stats.beta.ppf(0.025, hits, trials - hits + 1) if hits else 0.0
    high = scipy.stats.beta.ppf(0.975, hits + 1, trials - hits) if hits < trials else 1.0
    return 100 * float(low), 100 * float(high)


def gathered(cells: list[str], trials: int, kept: Path | None, workers: int) -> dict[str, dict[str, Counter]]:
    """Counts of every cell and detector over `trials` series, what was kept before included."""
    done = {}
    if kept and kept.exists():
        done = {tuple(key): value for key, value in map(json.loads, kept.read_text().splitlines())}
    rounds = -(-trials // ROUND)
    wanted = [(cell, number) for number in range(rounds) for cell in cells]
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        missing = [task for task in wanted if task not in done]
        for task, (_, found) in zip(missing, pool.imap(counted, missing), strict=True):
            done[task] = found
            if kept:
                with kept.open("a") as file:
                    file.write(json.dumps([task, found]) + "\n")
    table: dict[str, dict[str, Counter]] = {}
    for cell, number in wanted:
        for name, count in done[cell, number].items():
            table.setdefault(cell, {}).setdefault(name, Counter()).update(count)
    return table


def show_false_alarms(table: dict[str, dict[str, Counter]], what: str) -> int:
    """Rates per cell and detector in per cent, misses of the 5 % bound marked !; returns the misses."""
    cells = [cell for cell in NOTHING if cell in table]
    bare = what.startswith("bare")
    names, missed = [*DETECTORS] if bare else [*DETECTORS, "CUSUM"], 0
    print(f"\n{what:<30}" + "".join(f"{_short(name):>9}" for name in names))
    for cell in cells:
        line = f"{cell:<30}"
        for name in names:
            count = table[cell][name]
            hits, trials = (
                (count["bare"], count["bare trials"]) if bare else (count["claimed"], count["trials"])
            )
            told = bare or name == "CUSUM" or (cell == TURNING and name in ("peak", "reversal"))
            over = not told and interval(hits, trials)[0] > 5
            missed += over
            line += f"{100 * hits / trials:>8.1f}{'!' if over else ' '}"
        print(line)
    return missed


def show_changes(table: dict[str, dict[str, Counter]]) -> int:
    print(
        f"\n{'a change; % of series':<30}{'detector':<22}{'found':>8}{'covered':>9}{'of claims':>11}   95 %"
    )
    missed = 0
    for cell in (cell for cell in CHANGES if cell in table):
        for name, count in table[cell].items():
            found, trials = count["claimed"], count["trials"]
            low, high = interval(count["covered"], max(count["intervals"], 1))
            weak = cell in MUST_FIND and interval(found, trials)[1] < 80
            missed += weak
            covered = 100 * count["covered"] / max(count["intervals"], 1)
            told = 100 * count["claims covered"] / max(found, 1)
            print(
                f"{cell:<30}{name:<22}{100 * found / trials:>7.1f}{'!' if weak else ' '}"
                f"{covered:>9.1f}{told:>11.1f}   {low:.1f} to {high:.1f}"
            )
    return missed


#: Where each detector has to find 80 %.
MUST_FIND = ("step of 4 sds", "bump of 4 sds", "tent of 4 sds")


def _short(name: str) -> str:
    words = {"binary_segmentation": "binseg", "double_sigmoid": "double", "emergence_time": "emerge"}
    return words.get(
        name, {"online_change": "online", "half_rise": "half", "threshold": "thresh"}.get(name, name)
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="100 series a cell: a smoke test, not a result")
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--rounds", type=Path, help="keep counts there and go on from it")
    parser.add_argument("--only", choices=["nothing", "changes"])
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    trials = 100 if options.quick else options.trials
    cells = [*(NOTHING if options.only != "changes" else ()), *(CHANGES if options.only != "nothing" else ())]
    begun = time.perf_counter()
    table = gathered(cells, trials, options.rounds, options.processes)
    missed = 0
    if options.only != "changes":
        missed += show_false_alarms(table, f"nothing forms; % of {trials}")
        show_false_alarms(table, f"bare, without a null; of {trials // BARE_EVERY}")
        answers = [
            100 * count["answered"] / count["trials"]
            for cell in ("white noise", "AR(0.7)")
            for name, count in table[cell].items()
            if name in DETECTORS
        ]
        print(
            f"\nanswers to white noise and AR(0.7): at least {min(answers):.1f} % of series, every detector"
        )
    if options.only != "nothing":
        missed += show_changes(table)
    print(f"\n{missed} bounds missed; {time.perf_counter() - begun:.0f} s")
    sys.exit(missed > 0)


if __name__ == "__main__":
    main()
