"""Made-up runs for the stand-in to serve, so that a browser test knows every number it should see."""

import hashlib
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass
class Series:
    """One attempt's values of one metric."""

    steps: np.ndarray
    values: np.ndarray
    superseded: bool = False


@dataclass
class World:
    """What the stand-in serves: runs as the contract writes them, and their series by (run, metric)."""

    runs: list[dict[str, Any]] = field(default_factory=list)
    series: dict[tuple[str, str], list[Series]] = field(default_factory=dict)
    transitions: list[dict[str, Any]] = field(default_factory=list)
    checkpoints: list[int] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)

    def add(self, name: str, metrics: dict[str, list[Series]], **more: Any) -> str:
        """A run of that name; the id it got."""
        identity = hashlib.sha256(f"{len(self.runs)} {name}".encode()).hexdigest()[:12]
        last = {metric: strict(parts[-1].values[-1]) for metric, parts in metrics.items()}
        steps = max((int(parts[-1].steps[-1]) for parts in metrics.values()), default=0)
        run = {
            "id": identity, "name": name, "status": "finished", "grade": "E", "kind": "run", "parent": None,
            "forked_at": None, "interventions": [], "seed": None, "config": {}, "group": identity,
            "steps": steps, "tokens": steps * 1024, "seconds": steps * 0.05, "parameters": 3_200_000,
            "started": f"2026-11-{1 + len(self.runs) % 28:02d}T09:00:00", "last": last, "claims": 0,
            "title": "", "damage": "",
        }  # fmt: skip
        self.runs.append(run | more)
        for metric, parts in metrics.items():
            self.series[identity, metric] = parts
        return identity

    def metrics(self, run: str) -> list[str]:
        return [metric for owner, metric in self.series if owner == run]


def strict(value: float) -> float | str:
    """The number as the contract writes it: strict JSON knows no NaN."""
    if math.isfinite(value):
        return float(value)
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def example(runs: int = 6, metrics: int = 14, steps: int = 20_000, seed: int = 0) -> World:
    """Runs that look like training: noise, a spike, NaN, a resume, a branch, seeds of two conditions."""
    rng = np.random.default_rng(seed)
    world = World(checkpoints=[0, *(2**k for k in range(int(math.log2(steps)) + 1)), steps])
    x = np.arange(1, steps + 1)
    for index in range(runs):
        condition = index % 2
        drop = 1 / (1 + np.exp(-(x - steps * (0.2 + 0.1 * condition)) / (steps * 0.02)))
        loss = 4.2 * x**-0.08 - 1.2 * drop + rng.normal(0, 0.05, steps) * (1 + 3 / np.sqrt(x / 50))
        if index == 1:
            loss[steps // 3] = 9.0
        if index == 2:
            loss[-steps // 10 : -steps // 10 + 3] = np.nan
        parts = [Series(x, loss)]
        if index == 3:
            cut = steps // 2
            replaced = Series(x[:cut], loss[:cut].copy(), superseded=True)
            replaced.values[-1500:] += np.linspace(0, 1, 1500)
            parts = [Series(replaced.steps[-1500:], replaced.values[-1500:], True), Series(x, loss)]
        named: dict[str, list[Series]] = {"loss/train": parts}
        for other in range(metrics - 1):
            prefix = ("loss", "optimizer", "gradient", "layers")[other % 4]
            level = rng.lognormal(0, 2)
            values = level * x ** rng.normal(-0.1, 0.1) * rng.lognormal(0, 0.1, steps)
            named[f"{prefix}/{('eval', 'norm', 'scale', 'entropy')[other % 4]}.{other}"] = [Series(x, values)]
        world.add(
            f"letters-{('warm', 'cold')[condition]}-s{index // 2}",
            named,
            seed=index // 2,
            group=f"condition{condition}",
            config={"optimizer.lr": 0.001 * (1 + condition), "model.depth": 4},
            status="running" if index == 0 else "finished",
        )
    first = world.runs[0]["id"]
    world.runs[-1] |= {
        "parent": first,
        "forked_at": steps // 4,
        "interventions": ["scale_learning_rate"],
        "group": "branch",
    }
    world.transitions = [
        {"run": first, "part": "loss/train", "component": "", "place": {}, "where": "", "stimulus": "",
         "unit": "nats", "method": "drop", "verdict": "transition", "step": steps // 5, "low": steps // 6,
         "high": steps // 4,
         "level": 3.0, "size": -1.2, "p": 0.001, "reason": ""}
    ]  # fmt: skip
    return world
