"""TEL-07."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ontogeny.catalogue import summary
from ontogeny.statistics.recorded import Recorded
from ontogeny.statistics.spikes import deviations
from ontogeny.vocabulary import Reading, Status, Summarised, undefined

METRICS = ("loss", "gradient_norm")


@summary(
    unit="share of steps",
    source="OLMo 2 2501.00656 and its trainer's stability monitor (checked: code)",
    family="telemetry",
    telemetry=METRICS,
)
def spike_score(
    telemetry: pd.DataFrame, *, window: int = 128, deviation: float = 6.0, running: int = 10_000
) -> Iterator[Summarised]:
    """Which share of all steps shot up in training loss or gradient norm.

    A value is a spike if it lies above mean + 6 sd of the 128 values before it (population sd; a full window
    is required, and one with sd < 1e-10 has no spikes; upward only). The score is spikes / steps, a step
    with a spike of both counting once; `loss` and `gradient_norm` are the scores of each alone. `running` is
    the score over the last 10 000 steps, at the end of every as many. `loss_spike` and
    `gradient_norm_spike` stand at the step of each spike and say by how many sd. The OLMo 2 paper's own
    variant is deviation=7.0, window=1000 (recalled).

    Known: a constant, linear or falling series -> 0; one bump in n steps -> 1/n.
    Misleads: a spike raises the deviation of the 128 values after it, so that a second one right behind it
    is missed; a loss that is not finite is left out, and is no spike.
    """
    steps = np.unique(telemetry["step"].to_numpy(dtype=np.int64))
    struck = np.zeros(len(steps), bool)
    longest = 0
    for metric in METRICS:
        found = Recorded.of(telemetry, metric)
        above = deviations(found.values, window)
        spikes = above > deviation
        struck |= np.isin(steps, found.steps[spikes])
        longest = max(longest, len(found.steps))
        if len(found.steps) < window:
            yield Summarised(_too_few(metric, len(found.steps), window), component=metric)
            continue
        yield Summarised(Reading(float(spikes.mean()), n=len(spikes)), component=metric)
        for step, height in zip(found.steps[spikes], above[spikes], strict=True):
            yield Summarised(Reading(float(height), n=window), int(step), component=f"{metric}_spike")
    if longest < window:
        yield Summarised(_too_few("either", longest, window))
        return
    yield Summarised(Reading(float(struck.mean()), n=len(struck)))
    yield from _running(steps, struck, running)


def _too_few(metric: str, count: int, window: int) -> Reading:
    return undefined(Status.TOO_SHORT, f"{count} steps have a finite {metric}, {window} are needed", n=count)


def _running(steps: NDArray[np.int64], struck: NDArray[np.bool_], running: int) -> Iterator[Summarised]:
    if len(steps) < running:
        gap = undefined(Status.TOO_SHORT, f"{len(steps)} steps were recorded, {running} are needed")
        yield Summarised(gap, component="running")
        return
    counted = np.concatenate([[0], np.cumsum(struck)])
    for end in sorted({*range(running, len(steps) + 1, running), len(steps)}):
        score = (counted[end] - counted[end - running]) / running
        yield Summarised(Reading(float(score), n=running), int(steps[end - 1]), component="running")
