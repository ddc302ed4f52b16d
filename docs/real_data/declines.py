"""LAMBADA accuracy over Pythia's checkpoints: which models lose late in training what they had gained."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from ontogeny.bridges.evaluations import read_evaluations
from ontogeny.detect import locate
from ontogeny.statistics.false_discovery import false_discovery
from ontogeny.vocabulary import Located, Verdict

MODELS = ("70m", "160m", "410m", "1b-bf16", "1.4b", "2.8b", "6.9b", "12b")
#: Looked at for confirmation: other data, other prompts.
OTHERS = (
    "70m-deduped/zero-shot",
    "160m-deduped/zero-shot",
    "410m-deduped/zero-shot",
    "1.4b-deduped/zero-shot",
    "70m/five-shot",
    "160m/five-shot",
    "410m/five-shot",
    "1.4b/five-shot",
)
#: A loss of less than one question in a hundred is not told.
LEAST = 0.01
#: From here on checkpoints are evenly spaced, so that the peak can be placed.
EVEN = 3000
DRAWS = 999


@dataclass(frozen=True)
class Decline:
    """One model's accuracy by step, and what `peak` says of it.

    found   against a rise that never falls, each checkpoint with the standard error of its own 5,153 items
    placed  the same on the evenly spaced checkpoints, which say best when it was
    series  against the detector's own null, which must take the noise from the series itself
    """

    model: str
    steps: NDArray
    values: NDArray
    found: Located
    placed: Located
    series: Located

    @property
    def shown(self) -> bool:
        return self.found.verdict is Verdict.TRANSITION


def accuracies(folder: Path) -> tuple[NDArray, NDArray, NDArray]:
    """Steps, accuracy and its standard error over items, of one model on LAMBADA."""
    table = read_evaluations(folder).table()
    own = table[(table["task"] == "lambada_openai") & (table["metric"] == "acc")].sort_values("step")
    steps, values, errors = (own[name].to_numpy(dtype=np.float64) for name in ("step", "value", "stderr"))
    return steps, values, errors


def never_falling(steps: NDArray, values: NDArray, errors: NDArray, seed: int = 0) -> NDArray:
    """Draws [draw, checkpoint] of the best fit that never falls, with the items' own noise."""
    known = errors[errors > 0]
    weights = 1 / np.maximum(errors, known.min() if known.size else 1.0) ** 2
    order = np.argsort(steps)
    fit = isotonic_regression(values[order], weights=weights[order]).x[np.argsort(order)]
    return fit + np.random.default_rng(seed).normal(0, 1, (DRAWS, len(values))) * errors


def decline(folder: Path, model: str) -> Decline:
    """What `peak` says of one model."""
    steps, values, errors = accuracies(folder)
    even = steps >= EVEN
    found, placed = (
        locate(at, one, detector="peak", null=never_falling(at, one, noise), least=LEAST)[0]
        for at, one, noise in ((steps, values, errors), (steps[even], values[even], errors[even]))
    )
    (series,) = locate(steps, values, detector="peak", null="default", least=LEAST)
    return Decline(model, steps, values, found, placed, series)


def declines(data: Path) -> list[Decline]:
    """The eight sizes, zero-shot."""
    home = data / "pythia-evals/pythia-v1"
    return [decline(home / f"pythia-{model}" / "zero-shot", model) for model in MODELS]


def confirmed(data: Path) -> list[Decline]:
    """Models trained on deduplicated data, and five-shot prompts."""
    home = data / "pythia-evals/pythia-v1"
    return [decline(home / f"pythia-{name}", name) for name in OTHERS]


def declines_told(data: Path) -> Iterator[str]:
    """What is found in each model, line by line."""
    main, others = declines(data), confirmed(data)
    q = false_discovery([one.found.p for one in main]).q.tolist() + [float("nan")] * len(others)
    yield "LAMBADA accuracy over checkpoints: highest, last, p, q of 8, p from the series' own noise, peak"
    for one, share in zip([*main, *others], q, strict=True):
        top = int(one.values.argmax())
        peak = one.placed
        when = f"peak {peak.step:,.0f} ({peak.low:,.0f} to {peak.high:,.0f})" if one.shown else "no decline"
        yield (
            f"  {one.model:<22} {one.values[top]:.3f} at {one.steps[top]:>7,.0f}  {one.values[-1]:.3f}  "
            f"{one.found.p:<6.2g} {share:<6.2g} {one.series.p:<6.2g} {when}"
        )
