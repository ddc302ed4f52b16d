"""75 repeats of one run, and an optimizer benchmark: which differences so many seeds can show."""

import csv
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from ontogeny.statistics.arms import arm_effects
from ontogeny.statistics.arrangements import pairs_to_reach
from ontogeny.statistics.false_discovery import false_discovery
from ontogeny.statistics.seeds import seeds_needed, seeds_to_show

ALPHA = 0.05
#: The validation loss that the optimizer benchmark asks for.
TARGET = 3.28
_VALUE = re.compile(r"^step:(\d+)/\d+ val_loss:([\d.]+)", re.MULTILINE)


def validation_losses(path: Path) -> list[dict[int, float]]:
    """Validation loss by step of every run in a log; a new run begins where the step falls."""
    runs: list[dict[int, float]] = []
    last = math.inf
    for step, loss in _VALUE.findall(path.read_text(errors="replace")):
        if int(step) < last:
            runs.append({})
        runs[-1][int(step)], last = float(loss), int(step)
    return runs


def repeats(data: Path) -> NDArray:
    """The final validation loss of 75 repeats of one run."""
    logs = sorted((data / "nanogpt-logs/seeds75_2024-12-08").glob("*.txt"))
    return np.array([list(run.values())[-1] for log in logs for run in validation_losses(log)])


def seeds_by_difference(sd: float, differences: tuple[float, ...]) -> dict[float, int | None]:
    """Seeds an arm that show a difference of final losses with power 0.8 at alpha 0.05."""
    return {difference: seeds_needed(difference / sd, ALPHA) for difference in differences}


@dataclass(frozen=True)
class Entry:
    """One line of the optimizer benchmark whose runs are here: the claim and the losses it rests on."""

    number: int
    step: int
    losses: NDArray
    stated: str
    description: str


def entries(data: Path) -> list[Entry]:
    """Lines of the results table with the losses at the step they claim, in the log or its folder."""
    home = data / "nanogpt-logs/optimizer_benchmark"
    found = []
    with (home / "results-table.tsv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            log = home / row["log"]
            step, stated = (int(re.findall(form, row[key])[0]) for form, key in _STATED)
            own = [log] if log.exists() else []
            losses = _losses(own, step)
            if len(losses) < stated and log.parent != home:
                losses = _losses(sorted(log.parent.glob("*.txt")), step)
            if losses:
                found.append(
                    Entry(int(row["n"]), step, np.array(losses), row["evidence"], row["description"])
                )
    return found


def _losses(logs: list[Path], step: int) -> list[float]:
    return [run[step] for log in logs for run in validation_losses(log) if step in run]


_STATED = ((r"\d+", "steps_to_3.28"), (r"n=(\d+)", "evidence"))


@dataclass(frozen=True)
class Reached:
    """Whether a mean loss below the target is more than luck of the seeds."""

    entry: Entry
    p: float
    q: float
    reached: bool
    reason: str


def reached(found: list[Entry]) -> list[Reached]:
    """One-sided t tests of mean loss < 3.28, one an entry, with q by Benjamini and Hochberg.

    Refused where even equal signs could not be significant: fewer than 5 runs (2^-n > 0.05).
    """
    needed = pairs_to_reach(ALPHA, two_sided=False)
    enough = [entry.losses.size >= needed for entry in found]
    p = np.array(
        [
            stats.ttest_1samp(one.losses, TARGET, alternative="less").pvalue if many else math.nan
            for one, many in zip(found, enough, strict=True)
        ]
    )
    q = false_discovery(p).q
    return [
        Reached(
            one, *pair, bool(pair[1] <= ALPHA), "" if many else f"{one.losses.size} runs, {needed} needed"
        )
        for one, many, *pair in zip(found, enough, p.tolist(), q.tolist(), strict=True)
    ]


@dataclass(frozen=True)
class Difference:
    """Two entries at equal steps: whose loss is lower, by how much, and whether so many runs can say so."""

    lower: Entry
    higher: Entry
    effect: float
    low: float
    high: float
    p: float
    q: float
    seeds: int | None
    reason: str


def differences(found: list[Entry]) -> list[Difference]:
    """Every two entries that claim the same number of steps: Welch's interval, p by permuted labels, q.

    An entry of one run has no spread and is left out.
    """
    several = [entry for entry in found if entry.losses.size > 1]
    pairs = [
        sorted(pair, key=lambda one: float(one.losses.mean()))
        for pair in combinations(several, 2)
        if pair[0].step == pair[1].step
    ]
    effects = [arm_effects(high.losses[:, None], low.losses[:, None], alpha=ALPHA)[0] for low, high in pairs]
    q = false_discovery([float(one.p.value) for one in effects]).q
    return [
        Difference(
            *pair,
            float(one.effect.value),
            *(math.nan if bound is None else float(bound) for bound in (one.effect.low, one.effect.high)),
            float(one.p.value),
            float(share),
            None if one.seeds.reason else int(one.seeds.value),
            one.p.reason,
        )
        for pair, one, share in zip(pairs, effects, q, strict=True)
    ]


def repeats_told(data: Path) -> Iterator[str]:
    """The spread of the repeats, and the seeds that differences take, line by line."""
    losses = repeats(data)
    sd = float(losses.std(ddof=1))
    yield f"final loss of {losses.size} repeats: mean {losses.mean():.4f}, sd {sd:.4f}"
    yield f"  {losses.min():.4f} to {losses.max():.4f}"
    for difference, count in seeds_by_difference(sd, (0.005, 0.003, 0.002, 0.001, 0.0005)).items():
        yield f"  seeds an arm for a difference of {difference:g}: {count}"
    drawn = np.random.default_rng(0).choice(losses, (2000, 3))
    pilot = [seeds_to_show(0.002, float(three.std(ddof=1)), 3) for three in drawn]
    counts = [float(one.value) for one in pilot if not one.reason]
    few, middle, many = np.quantile(counts, [0.1, 0.5, 0.9])
    yield f"  from pilots of 3 of them, for 0.002: {middle:.0f} (10 to 90 %: {few:.0f} to {many:.0f})"


def optimizers_told(data: Path) -> Iterator[str]:
    """What `reached` and `differences` give, line by line."""
    found = entries(data)
    yield f"{len(found)} entries of the optimizer benchmark, {sum(e.losses.size for e in found)} runs"
    yield f"  {'entry':>5} {'step':>5} {'runs':>4} {'mean':>8} {'sd':>7} {'p':>8} {'q':>8}"
    for one in reached(found):
        e = one.entry
        sd = f"{e.losses.std(ddof=1):.5f}" if e.losses.size > 1 else "-"
        said = "below 3.28" if one.reached else one.reason or "not shown"
        yield (
            f"  {e.number:>5} {e.step:>5} {e.losses.size:>4} {e.losses.mean():>8.5f} {sd:>7} "
            f"{one.p:>8.2g} {one.q:>8.2g}  {said}"
        )
    yield "  at equal steps: lower, higher, difference, 95 %, p, q"
    for pair in differences(found):
        bounds = "" if math.isnan(pair.low) else f"{pair.low:+.5f} to {pair.high:+.5f}"
        said = pair.reason or ("shown" if pair.q <= ALPHA else f"not shown; {pair.seeds} seeds an arm would")
        yield (
            f"  {pair.lower.step:>5} #{pair.lower.number:<3} #{pair.higher.number:<3} {pair.effect:+.5f} "
            f"{bounds:<22} {pair.p:>8.2g} {pair.q:>8.2g}  {said}"
        )
