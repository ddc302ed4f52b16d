"""What a benchmark claims, what it measured, and whether it held; the same for every benchmark."""

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import scipy.stats

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Claim:
    """One number. With a bound (`most`) it holds or is missed; without one it stands beside others."""

    what: str
    measured: float
    unit: str
    most: float | None = None
    note: str = ""

    @property
    def missed(self) -> bool:
        return self.most is not None and not self.measured <= self.most

    @property
    def verdict(self) -> str:
        return "" if self.most is None else "MISS" if self.missed else "pass"


def median_most(ratios: Sequence[float], level: float = 0.95) -> tuple[float, float]:
    """The median, and the upper bound of its one-sided interval from order statistics (no normality)."""
    ordered = np.sort(np.asarray(ratios, dtype=float))
    rank = int(scipy.stats.binom.ppf(level, len(ordered), 0.5))
    return float(np.median(ordered)), float(ordered[min(rank, len(ordered) - 1)])


def show(claims: Sequence[Claim]) -> None:
    width = max((len(claim.what) for claim in claims), default=0)
    print(f"{'':<{width}}  {'measured':>10}  {'at most':>8}  {'unit':<12} {'':<4}")
    for claim in claims:
        most = "" if claim.most is None else f"{claim.most:g}"
        print(
            f"{claim.what:<{width}}  {claim.measured:>10.4g}  {most:>8}  {claim.unit:<12} "
            f"{claim.verdict:<4} {claim.note}".rstrip()
        )


def machine() -> str:
    """The processor as the kernel names it, how many, and how busy they are with other things."""
    names = [line.split(":")[1].strip() for line in _cpuinfo() if line.startswith("model name")]
    load = "/".join(f"{value:.1f}" for value in os.getloadavg())
    name = names[0] if names else platform.machine()
    return f"{name}, {os.cpu_count()} cores, Python {platform.python_version()}, load {load}"


def _cpuinfo() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text().splitlines() if path.exists() else []


def conclude(doc: str | None, measure: Callable[[bool], list[Claim]]) -> None:
    """Run a benchmark as a script: its table, and exit status 1 if a bound is missed."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer repetitions: a smoke test, not a result")
    parser.add_argument("--json", type=Path, help="write the claims there, too")
    options = parser.parse_args()
    print(machine())
    claims = measure(options.quick)
    show(claims)
    if options.json:
        options.json.write_text(json.dumps([asdict(claim) for claim in claims]))
    sys.exit(any(claim.missed for claim in claims))
