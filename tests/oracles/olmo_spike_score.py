"""Spikes of a real run by the trainer's own monitor; `tests/instruments/test_spike_score.py` compares ours.

In an environment of its own:

    pip install ai2-olmo-core==3.0.0
    python tests/oracles/olmo_spike_score.py LOG > tests/oracles/olmo_spike_score.json

LOG is nanogpt-logs/llmc_gpt2_124M/main.log of the shared data: every step's loss and gradient norm.
"""

import json
import re
import sys
from importlib.metadata import version
from pathlib import Path

from olmo_core.train.callbacks.stability_monitor import StabilityMonitorCallback


def spikes(values: list[float], metric: str, **options: float) -> list[int]:
    """The steps at which the monitor's own count of spikes goes up."""
    monitor = StabilityMonitorCallback(**options)
    name = getattr(monitor, f"{metric}_metric_name")
    found, before = [], 0
    for step, value in enumerate(values):
        monitor.pre_log_metrics(step, {name: value})
        if monitor._total_spike_count > before:
            found.append(step)
        before = monitor._total_spike_count
    return found


def scores(losses: list[float], norms: list[float]) -> dict[str, float]:
    """What it logs at the last step, of both metrics together."""
    monitor = StabilityMonitorCallback()
    for step, (loss, norm) in enumerate(zip(losses, norms, strict=True)):
        logged = {monitor.loss_metric_name: loss, monitor.grad_norm_metric_name: norm}
        monitor.pre_log_metrics(step, logged)
    return {name: value for name, value in logged.items() if name.startswith("spike/")}


def main() -> None:
    text = Path(sys.argv[1]).read_text()
    rows = re.findall(r"^s:\d+ trl:(\S+) lr:\S+ norm:(\S+)$", text, re.MULTILINE)
    losses, norms = ([float(value) for value in column] for column in zip(*rows, strict=True))
    paper = {"threshold_std": 7.0, "window_size": 1000}
    found = {
        "made_by": f"tests/oracles/olmo_spike_score.py with ai2-olmo-core {version('ai2-olmo-core')}",
        "steps": len(losses),
        "loss": spikes(losses, "loss"),
        "gradient_norm": spikes(norms, "grad_norm"),
        "gradient_norm_of_the_paper": spikes(norms, "grad_norm", **paper),
        "scores": scores(losses, norms),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
